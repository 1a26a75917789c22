"""Lines: in which order jobs stand, as much of it as is asked for.

A `Line` is sorted by keys when its order is first read. An `ActiveLine` also lists its jobs and works its
keys out only then: most rounds have room for every job, and never look. A policy that keeps its own order
sorted can answer `contested()` from it."""

from __future__ import annotations

from collections.abc import Callable
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
        find_keys: Callable[[JobState], Keys] = lambda job_state: (),
        find_contested: Callable[[JobState, int], list[int] | None] | None = None,
    ) -> None:
        self._job_state, self._find_keys, self._find_contested = job_state, find_keys, find_contested
        self._order = None
        self._known_jobs: Array | None = None
        self._known_keys: Keys | None = None
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
            self._known_keys = self._find_keys(self._job_state)
        return self._known_keys

    def lists_all(self, job_state: JobState) -> bool:
        return job_state is self._job_state

    def contested(self, job_state: JobState, free: int) -> list[int] | None:
        return None if self._find_contested is None else self._find_contested(job_state, free)


def stable_order(*keys: Array) -> Array:
    """Positions in the order of the keys, the first one first, ties as they stand."""
    if len(keys) == 1:
        return keys[0].argsort(kind="stable")
    return np.lexsort(keys[::-1])
