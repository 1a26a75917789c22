"""Journal: what happened to jobs, in order, one note per event; read as columns after the run.

Notes are kept as they come and turned into arrays some thousands at a time: most events concern one or two
jobs, and arrays of so few cost more than the notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from blox.state.plan import NO_ROWS, Allocation
from blox.workloads.table import Array

_LOOSE = 4096  # events: so many are turned into arrays at once


class Kind:
    """Kinds of events, as numbers. A job that moves departs from its GPUs and arrives on others."""

    ADMIT, LAUNCH, SUSPEND, DEPART, ARRIVE, EVICT, FINISH = range(7)
    END_WAITING = 7  # a job without GPUs ends
    GONE_BEFORE, RUNNING_BEFORE = 8, 9  # the job had finished, or ran, when the recording began

    COUNT = 10
    STARTS, ENDS = (LAUNCH, ARRIVE, RUNNING_BEFORE), (SUSPEND, DEPART, EVICT, FINISH)  # of stints
    COMPLETED = (FINISH, END_WAITING)
    GONE = (FINISH, END_WAITING, GONE_BEFORE)
    BEGIN_TO_WAIT, CEASE_TO_WAIT = (ADMIT, SUSPEND, EVICT), (LAUNCH, END_WAITING)


class Happened:
    """What a journal holds, as arrays, each of which is made when it is first read."""

    def __init__(self, packed: list[tuple[Array, ...]]) -> None:
        self._packed = packed

    def _column(self, at: int) -> Array:
        return np.concatenate([columns[at] for columns in self._packed])

    @cached_property
    def kind(self) -> Array:
        """By event."""
        return self._column(0)

    @cached_property
    def size(self) -> Array:
        """Number of jobs, by event."""
        return self._column(1)

    @cached_property
    def job(self) -> Array:
        """Rows, by event and job."""
        return self._column(2)

    @cached_property
    def time_s(self) -> Array:
        """By event and job."""
        return self._column(3)

    @cached_property
    def counts(self) -> Array:
        """Number of GPUs, by start of a stint."""
        return self._column(4)

    @cached_property
    def gpus(self) -> Array:
        """GPU ids, by start of a stint and GPU."""
        return self._column(5)


class Journal:
    """`size`: number of events so far. Arrays that it is given must not be changed afterwards."""

    def __init__(self) -> None:
        self.size = 0
        self._notes: list[tuple[int, Array, Array | float]] = []  # kind, rows, time
        self._starts: list[Allocation] = []  # of the notes that start stints
        self._packed: list[tuple[Array, ...]] = []  # earlier notes, as the columns of Happened

    def note(self, kind: int, rows: Array, at: Array | float) -> None:
        """Appends an event of `rows`, at one time (s) or at one time per row."""
        self.size += 1
        self._notes.append((kind, rows, at))
        if len(self._notes) == _LOOSE:
            self._pack()

    def start(self, kind: int, part: Allocation, at: float) -> None:
        """Appends the start of stints."""
        self._starts.append(part)
        self.note(kind, part.jobs, at)

    def read(self) -> Happened:
        """All events so far."""
        self._pack()
        return Happened(self._packed)

    def _pack(self) -> None:
        """Turns the notes into arrays; rows and GPU ids take half the room of those in the notes."""
        kinds, rows, times = zip(*self._notes) if self._notes else ((), (), ())
        size = np.array([len(each) for each in rows], dtype=np.int64)
        own = [each for each in times if isinstance(each, np.ndarray)]  # one time per row
        one = [math.nan if isinstance(each, np.ndarray) else each for each in times]
        time_s = np.repeat(np.array(one, dtype=np.float64), size)
        time_s[np.isnan(time_s)] = np.concatenate(own) if own else ()
        self._packed.append(
            (
                np.array(kinds, dtype=np.int64),
                size,
                _narrow(rows),
                time_s,
                _narrow([part.counts for part in self._starts]),
                _narrow([part.gpus for part in self._starts]),
            )
        )
        self._notes, self._starts = [], []


def _narrow(pieces: Sequence[Array]) -> Array:
    return np.concatenate((NO_ROWS, *pieces), dtype=np.int32, casting="same_kind")
