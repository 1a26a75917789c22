"""Journal: what happened to jobs, in order, one note per event; read as columns once the run is over.

Notes are bytes, since events come one or two jobs at a time, and are then a few times faster than arrays."""

from __future__ import annotations

import math
from struct import Struct
from typing import NamedTuple

import numpy as np

from blox.state.plan import Allocation
from blox.workloads.table import Array

_EVENT = Struct("qqd")  # kind, number of rows, time
_EVENT_DTYPE = np.dtype([("kind", np.int64), ("rows", np.int64), ("time_s", np.float64)])
_INT64 = np.dtype(np.int64)


class Kind:
    """What happens to jobs, as numbers. One that moves departs from its GPUs and arrives on others."""

    ADMIT, LAUNCH, SUSPEND, DEPART, ARRIVE, EVICT, FINISH = range(7)
    END_WAITING = 7  # a job ends that holds no GPUs
    GONE_BEFORE = 8  # it had finished when the recording began

    STARTS, ENDS = (LAUNCH, ARRIVE), (SUSPEND, DEPART, EVICT, FINISH)  # of stints
    BEGIN_TO_WAIT, CEASE_TO_WAIT = (ADMIT, SUSPEND, EVICT), (LAUNCH, END_WAITING)
    GONE = (FINISH, END_WAITING, GONE_BEFORE)


class Happened(NamedTuple):
    """A row per job and event, in order: what happened (a Kind), to which job, and when.

    `counts` and `gpus`: of every job that starts, in order, how many GPUs it gets, and their ids.
    """

    kind: Array
    job: Array
    time_s: Array
    counts: Array
    gpus: Array


class Journal:
    """`size` counts the rows noted so far."""

    def __init__(self) -> None:
        self.size = 0
        self._events, self._jobs = bytearray(), bytearray()
        self._times = bytearray()  # of events whose jobs have times of their own
        self._counts, self._gpus = bytearray(), bytearray()

    def note(self, kind: int, rows: Array, at: Array | float) -> None:
        """Something happens to these jobs, at one time or to each at its own."""
        if type(at) is not float and isinstance(at, np.ndarray):
            self._times += at.tobytes()
            at = math.nan
        self._events += _EVENT.pack(kind, len(rows), at)
        self._jobs += _raw(rows)
        self.size += len(rows)

    def start(self, kind: int, part: Allocation, now: float) -> None:
        """Jobs start on GPUs."""
        self.note(kind, part.jobs, now)
        self._counts += _raw(part.counts)
        self._gpus += _raw(part.gpus)

    def read(self) -> Happened:
        """Everything that was noted."""
        events = np.frombuffer(self._events, dtype=_EVENT_DTYPE)
        kind, time_s = (np.repeat(events[name], events["rows"]) for name in ("kind", "time_s"))
        time_s[np.isnan(time_s)] = np.frombuffer(self._times)
        jobs, counts, gpus = (np.frombuffer(each, _INT64) for each in (self._jobs, self._counts, self._gpus))
        return Happened(kind, jobs, time_s, counts, gpus)


def _raw(numbers: Array) -> bytes:
    return numbers.tobytes() if numbers.dtype is _INT64 else numbers.astype(_INT64).tobytes()
