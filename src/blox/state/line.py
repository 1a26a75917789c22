"""Lines: the order of jobs, computed only as far as it is read.

A `Line` is sorted by keys when its order is first read. An `ActiveLine` also lists its jobs and computes its
keys only then: most rounds have room for every job, and never read the order. A policy that keeps its own
order sorted can answer `contested()` from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.jobs import JobState

Keys = tuple[Array, ...]
_LONG = 1024  # keys; a stable sort of fewer takes no longer than a sort of integers


class Line:
    """Jobs sorted by `keys` (most important first); ties, or no keys: the order of `jobs`."""

    jobs: Array  # rows, in any order
    keys: Keys  # sort keys, aligned with `jobs`
    _order: Array | None = None

    def __init__(self, jobs: Array, keys: Keys = ()) -> None:
        self.jobs, self.keys = jobs, keys

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
    (`JobState.settle_lines`).
    """

    _known_jobs: Array | None = None
    _known_keys: Keys | None = None

    def __init__(
        self,
        job_state: JobState,
        find_keys: Callable[[JobState], Keys] = lambda job_state: (),
        find_contested: Callable[[JobState, int], list[int] | None] | None = None,
    ) -> None:
        self._job_state, self._find_keys, self._find_contested = job_state, find_keys, find_contested
        job_state.unread_lines.append(ref(self))

    def settle(self) -> None:
        """Evaluates jobs and keys now, so that later reads return the present order."""
        self._known_jobs, self._known_keys = self.jobs, self.keys

    @property
    def jobs(self) -> Array:  # type: ignore[override]
        return self._job_state.active if self._known_jobs is None else self._known_jobs

    @property
    def keys(self) -> Keys:  # type: ignore[override]
        if self._known_keys is None:
            self._known_keys = self._find_keys(self._job_state)
        return self._known_keys

    def lists_all(self, job_state: JobState) -> bool:
        return job_state is self._job_state and self._known_jobs is None

    def contested(self, job_state: JobState, free: int) -> list[int] | None:
        return None if self._find_contested is None else self._find_contested(job_state, free)


def stable_order(*keys: Array) -> Array:
    """Positions sorted by the keys, the first the most important; ties keep their order."""
    if len(keys) > 1:
        return np.lexsort(keys[::-1])
    (key,) = keys
    if len(key) < _LONG or key.dtype != np.float64:
        return key.argsort(kind="stable")
    return _long_order(key)


def _long_order(key: Array) -> Array:
    """`key.argsort(kind="stable")` by a sort of integers, which takes a fraction of the time.

    The last bits of each key give way to its position, so that keys which differ in these bits only may come
    out in a wrong order; then the keys are sorted as they are, and so are keys with nan."""
    bits = (key + 0.0).view(np.int64)  # adding 0 turns -0.0, which equals 0.0, into 0.0
    bits ^= (bits >> 63) & np.int64(2**63 - 1)  # negative floats ascend as their bits descend
    position_bits = np.int64((1 << len(key).bit_length()) - 1)
    bits &= ~position_bits
    bits |= np.arange(len(key))
    bits.sort()
    bits &= position_bits
    in_order = key.take(bits)
    return bits if (in_order[1:] >= in_order[:-1]).all() else key.argsort(kind="stable")
