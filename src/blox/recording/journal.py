"""Journal: what happened to jobs, in order, one note per event; read as columns once the run is over.

Notes are bytes, since events come one or two jobs at a time, and are then a few times faster than arrays."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

import numpy as np

from blox.state.plan import Allocation
from blox.workloads.table import Array

_EVENT, _TIME = Struct("qqd"), Struct("d")  # kind, number of jobs, time
_EVENT_DTYPE = np.dtype([("kind", np.int64), ("size", np.int64), ("time_s", np.float64)])
_INT64 = np.dtype(np.int64)


class Kind:
    """What happens to jobs, as numbers. One that moves departs from its GPUs and arrives on others."""

    ADMIT, LAUNCH, SUSPEND, DEPART, ARRIVE, EVICT, FINISH = range(7)
    END_WAITING = 7  # a job ends that holds no GPUs
    GONE_BEFORE, RUNNING_BEFORE = 8, 9  # it had finished, or ran, when the recording began

    COUNT = 10
    STARTS = (LAUNCH, ARRIVE, RUNNING_BEFORE)  # of stints
    COMPLETED = (FINISH, END_WAITING)
    GONE = (FINISH, END_WAITING, GONE_BEFORE)
    BEGIN_TO_WAIT, CEASE_TO_WAIT = (ADMIT, SUSPEND, EVICT), (LAUNCH, END_WAITING)


class Happened(NamedTuple):
    """By event, in order: what happened (a Kind), to how many jobs, and when; and all those jobs.

    By stint, in order of their starts: `counts`, how many GPUs it has; and all `gpus`. By end of a stint, in
    order: `ended`, its number, and `ended_s`, when.
    """

    kind: Array
    size: Array
    time_s: Array
    job: Array
    counts: Array
    gpus: Array
    ended: Array
    ended_s: Array


class Journal:
    """`size` counts the jobs of all events so far. Stints are numbered as they start."""

    def __init__(self) -> None:
        self.size = 0
        self._events, self._jobs = bytearray(), bytearray()
        self._counts, self._gpus = bytearray(), bytearray()
        self._ended, self._ended_s = bytearray(), bytearray()
        self._stints = 0
        self._open: Array = np.empty(0, dtype=np.int64)  # by row: the last stint that the job has started

    def note(self, kind: int, rows: Array, at: float) -> None:
        """Something happens to these jobs."""
        self._events += _EVENT.pack(kind, len(rows), at)
        self._jobs += _raw(rows)
        self.size += len(rows)

    def start(self, kind: int, part: Allocation, now: float) -> None:
        """Jobs start on GPUs."""
        rows, first = part.jobs, self._stints
        last = rows.item(rows.argmax())
        if last >= len(self._open):
            self._open = np.concatenate((self._open, np.empty(last + 1, dtype=np.int64)))
        self._stints += len(rows)
        if len(rows) == 1:
            self._open[last] = first
        else:
            self._open[rows] = np.arange(first, self._stints)
        self.note(kind, rows, now)
        self._counts += _raw(part.counts)
        self._gpus += _raw(part.gpus)

    def end(self, kind: int, rows: Array, at: Array | float, now: float) -> None:
        """Jobs leave their GPUs at one time, or each at its own; it is noted now."""
        self.note(kind, rows, now)
        self._ended += self._open[rows].tobytes()
        self._ended_s += at.tobytes() if isinstance(at, np.ndarray) else _TIME.pack(at) * len(rows)

    def read(self) -> Happened:
        """Everything that was noted."""
        events = np.frombuffer(self._events, dtype=_EVENT_DTYPE)
        notes = (self._jobs, self._counts, self._gpus, self._ended)
        jobs, counts, gpus, ended = (np.frombuffer(each, _INT64) for each in notes)
        ended_s = np.frombuffer(self._ended_s)
        return Happened(events["kind"], events["size"], events["time_s"], jobs, counts, gpus, ended, ended_s)


def _raw(numbers: Array) -> bytes:
    return numbers.tobytes() if numbers.dtype is _INT64 else numbers.astype(_INT64).tobytes()
