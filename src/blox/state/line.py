"""Lines: the order of jobs, computed only as far as it is read.

A `Line` is sorted by keys when its order is first read. An `ActiveLine` also lists its jobs and computes its
keys only then: most rounds have room for every job, and never read the order. A policy that keeps its own
order sorted can answer `contested()` from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.jobs import JobState

Keys = tuple[Array, ...]


class Line:
    """Jobs sorted by `keys` (most important first); ties, or no keys: the order of `jobs`."""

    jobs: Array  # rows, in any order
    keys: Keys  # sort keys, aligned with `jobs`

    def __init__(self, jobs: Array, keys: Keys = ()) -> None:
        self.jobs, self.keys = jobs, keys
        self._order: Array | None = None

    @property
    def order(self) -> Array:
        """Positions in `jobs`, in order of the line."""
        if self._order is None:
            keys = self.keys
            self._order = stable_order(*keys) if keys else np.arange(len(self.jobs))
        return self._order

    def rank(self, which: Array) -> Array:
        """The positions `which` (ascending on entry), sorted in the order of the line."""
        keys = self.keys
        if not keys or len(which) == 1:
            return which
        return which.take(stable_order(*(key.take(which) for key in keys)))

    def lists_all(self, job_state: JobState) -> bool:
        """Whether `jobs` is `job_state.active` itself."""
        return self.jobs is job_state.active

    def contested(self, job_state: JobState, free: int) -> list[int] | None:
        """The rows, in order, that may start or be displaced this round; None: not known.

        Every other job keeps what it has. Asked only if the schedule lists all active jobs, passes over a job
        that does not fit and may displace running jobs, and some jobs wait. `free`: number of free GPUs.
        """
        return None


class ActiveLine(Line):
    """All active jobs; the list, the keys and the order are each computed when first read.

    Before the plan changes the state, the loop settles a line that is still referenced
    (`JobState.settle_line`).
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
        """Evaluates jobs and keys now, so that later reads return the present order."""
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
    """Positions sorted by the keys, the first the most important; ties keep their order."""
    if len(keys) == 1:
        return keys[0].argsort(kind="stable")
    return np.lexsort(keys[::-1])
