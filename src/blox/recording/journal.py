"""Journal: what happened to jobs, in order, one note per event; read as columns after the run.

Notes are appended to byte arrays: most events concern one or two jobs, for which numpy arrays cost more.
Rows, GPU counts and GPU ids are below 2**31."""

from __future__ import annotations

import math
from struct import Struct
from typing import NamedTuple

import numpy as np
from numpy import ndarray  # read faster than an attribute of numpy

from blox.state.plan import Allocation
from blox.workloads.table import Array

_EVENT = Struct("qqd")  # kind, number of jobs, time (nan: each job has its own)
_EVENT_DTYPE = np.dtype([("kind", np.int64), ("size", np.int64), ("time_s", np.float64)])
_PACK = 2**16  # notes are packed once unpacked GPU ids take more bytes than this


class Kind:
    """Kinds of events, as numbers. A job that moves departs from its GPUs and arrives on others."""

    ADMIT, LAUNCH, SUSPEND, DEPART, ARRIVE, EVICT, FINISH = range(7)
    END_WAITING = 7  # a job without GPUs ends
    GONE_BEFORE, RUNNING_BEFORE = 8, 9  # the job had finished, or ran, when the recording began

    COUNT = 10
    STARTS, ENDS = (LAUNCH, ARRIVE, RUNNING_BEFORE), (SUSPEND, DEPART, EVICT, FINISH)  # of stints
    ENTERED = (ADMIT, GONE_BEFORE, RUNNING_BEFORE)  # once for each job that is, or was, admitted
    COMPLETED = (FINISH, END_WAITING)
    GONE = (FINISH, END_WAITING, GONE_BEFORE)
    BEGIN_TO_WAIT, CEASE_TO_WAIT = (ADMIT, SUSPEND, EVICT), (LAUNCH, END_WAITING)


class Happened(NamedTuple):
    """The journal as arrays. Per event: `kind`, `size` (jobs), `time_s` (nan: each job has its own). Per
    event and job: `job` (row); of events without a time also `own_s`. Per stint start: `counts` (GPUs).
    Per stint start and GPU: `gpus` (ids)."""

    kind: Array
    size: Array
    time_s: Array
    job: Array
    own_s: Array
    counts: Array
    gpus: Array

    def jobs(self, kinds: tuple[int, ...]) -> Array:
        """The jobs that these kinds of events happened to, in order."""
        return self.job[np.repeat(np.isin(self.kind, kinds), self.size)]

    def times(self, kinds: tuple[int, ...]) -> Array:
        """When it happened to each of these jobs (s)."""
        found, own = np.isin(self.kind, kinds), np.isnan(self.time_s)
        times = np.repeat(self.time_s[found], self.size[found])
        times[np.isnan(times)] = self.own_s[np.repeat(found[own], self.size[own])]
        return times


class Journal:
    """`size`: number of events so far."""

    def __init__(self) -> None:
        self.size = 0
        self._events, self._times = bytearray(), bytearray()
        self._jobs, self._counts, self._gpus = bytearray(), bytearray(), bytearray()  # int64, not packed yet
        self._packed = bytearray(), bytearray(), bytearray()  # those of earlier notes, int32

    def note(self, kind: int, rows: Array, at: Array | float) -> None:
        """Appends an event of `rows` (int64), at one time (s) or at one time per row."""
        self.size += 1
        self._jobs += rows.tobytes()
        if isinstance(at, ndarray):
            self._times += at.astype(np.float64, copy=False).tobytes()
            at = math.nan
        self._events += _EVENT.pack(kind, len(rows), at)

    def start(self, kind: int, part: Allocation, at: float) -> None:
        """Appends the start of stints; the arrays of `part` are int64."""
        self.note(kind, part.jobs, at)
        self._counts += part.counts.tobytes()
        self._gpus += part.gpus.tobytes()
        if len(self._gpus) > _PACK:
            self._pack()

    def _pack(self) -> None:
        """Moves the latest numbers to the packed ones, in half the memory: long runs note millions."""
        for latest, packed in zip((self._jobs, self._counts, self._gpus), self._packed):
            packed += np.frombuffer(latest, np.int64).astype(np.int32).tobytes()
            latest.clear()

    def read(self) -> Happened:
        """All events so far."""
        self._pack()
        events = np.frombuffer(self._events, dtype=_EVENT_DTYPE)
        job, counts, gpus = (np.frombuffer(packed, np.int32) for packed in self._packed)
        own_s = np.frombuffer(self._times)
        return Happened(events["kind"], events["size"], events["time_s"], job, own_s, counts, gpus)
