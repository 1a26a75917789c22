"""Lines: in which order jobs stand, as much of it as is asked for.

A `Line` is sorted by keys when its order is first read. An `ActiveLine` also lists its jobs and works its
keys out only then: most rounds have room for every job, and never look. A policy that keeps its own order
sorted can answer `contested()` from it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.jobs import JobState

Keys = tuple[Array, ...]


class Line:
    """Jobs in the order of `keys` (first key first, ties as they stand); without keys, as they stand."""

    jobs: Array  # rows, in any order
    keys: Keys  # what sorts them, aligned with `jobs`

    def __init__(self, jobs: Array, keys: Keys = ()) -> None:
        self.jobs, self.keys = jobs, keys
        self._order: Array | None = None

    @property
    def order(self) -> Array:
        """Positions into `jobs`, first in line first."""
        if self._order is None:
            keys = self.keys
            self._order = stable_order(*keys) if keys else np.arange(len(self.jobs))
        return self._order

    def rank(self, which: Array) -> Array:
        """`which` positions (ascending) in the order of the line."""
        keys = self.keys
        if not keys or len(which) == 1:
            return which
        return which.take(stable_order(*(key.take(which) for key in keys)))

    def lists_all(self, job_state: JobState) -> bool:
        """Whether its jobs are the active ones, as they stand."""
        return self.jobs is job_state.active

    def contested(self, job_state: JobState, free: int) -> list[int] | None:
        """The rows, in order, among which it is decided which start and which make room; None: unknown.

        For a schedule of all active jobs in which a job that does not fit is passed over, running jobs may be
        displaced, and some jobs wait; `free` GPUs are free.
        """
        return None


class ActiveLine(Line):
    """All active jobs, listed only when read, in an order that is worked out only when read.

    The loop settles a line that is still referenced when its round is over (`JobState.settle_line`).
    """

    def __init__(
        self,
        job_state: JobState,
        find_keys: Callable[[JobState], Keys] | None = None,
        find_contested: Callable[[JobState, int], list[int] | None] | None = None,
    ) -> None:
        self._job_state, self._find_keys, self._find_contested = job_state, find_keys, find_contested
        self._order = None
        self._known_jobs: Array | None = None
        self._known_keys: Keys | None = None if find_keys else ()
        job_state.track_line(self)

    def settle(self) -> None:
        """Works everything out now: read later, it says what holds now."""
        self._known_jobs = self.jobs
        self._known_keys = self.keys

    @property
    def jobs(self) -> Array:  # type: ignore[override]
        return self._job_state.active if self._known_jobs is None else self._known_jobs

    @property
    def keys(self) -> Keys:  # type: ignore[override]
        if self._known_keys is None:
            assert self._find_keys is not None
            self._known_keys = self._find_keys(self._job_state)
        return self._known_keys

    def lists_all(self, job_state: JobState) -> bool:
        return job_state is self._job_state

    def contested(self, job_state: JobState, free: int) -> list[int] | None:
        return None if self._find_contested is None else self._find_contested(job_state, free)


class SortedPlaces:
    """Jobs by their places, each a number of its own, kept sorted as jobs come, move, wait, run and leave."""

    def __init__(self) -> None:
        self._places: list[int] = []  # ascending
        self._row_at: dict[int, int] = {}
        self._place_of: dict[int, int] = {}
        self._waiting: list[int] = []  # the places of jobs that hold no GPUs, ascending

    def put(self, row: int, place: int, waits: bool) -> None:
        """A job comes, moves to another place, stops or starts."""
        if self._place_of.get(row) != place:
            self.drop(row)
            insort(self._places, place)
            self._row_at[place], self._place_of[row] = row, place
        at = bisect_left(self._waiting, place)
        known = at < len(self._waiting) and self._waiting[at] == place
        if waits and not known:
            self._waiting.insert(at, place)
        elif known and not waits:
            del self._waiting[at]

    def drop(self, row: int) -> None:
        """A job leaves, if it is there."""
        place = self._place_of.pop(row, None)
        if place is None:
            return
        del self._row_at[place]
        for places in (self._places, self._waiting):
            at = bisect_left(places, place)
            if at < len(places) and places[at] == place:
                del places[at]

    def contested(self, held: Sequence[int], gpus: Sequence[int], free: int, most: int) -> list[int] | None:
        """The rows, in order, among which it is decided which start and which make room; None: above `most`.

        `held` and `gpus`: what jobs hold and ask for, by row. A running job before the first waiting one goes
        on running, and so does one that is followed by enough others for all that wait.
        """
        places, waiting, row_at = self._places, self._waiting, self._row_at
        start = bisect_left(places, waiting[0])
        if len(places) - start <= most:
            return [row_at[place] for place in places[start:]]
        shortage = sum([gpus[row_at[place]] for place in waiting]) - free
        last = len(places)
        while shortage > 0:
            last -= 1
            if len(places) - last > most:
                return None
            shortage -= held[row_at[places[last]]]
        before = waiting[: bisect_left(waiting, places[last])] if last < len(places) else waiting
        line = before + places[last:]
        return [row_at[place] for place in line] if len(line) <= most else None


def stable_order(*keys: Array) -> Array:
    """Positions in the order of the keys, the first one first, ties as they stand."""
    if len(keys) == 1:
        return keys[0].argsort(kind="stable")
    return np.lexsort(keys[::-1])
