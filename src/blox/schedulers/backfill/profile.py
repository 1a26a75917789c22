"""Profile: the free GPUs over the time to come, less what has been set aside for jobs.

A unit is a node where it matters on which nodes a job runs, and otherwise the whole cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from blox.placement.walk.room import Share
from blox.workloads.table import Array

Shares = Sequence[Share]
# (free GPUs by unit, when the job would start) -> the GPUs that it would take, or None
Choose = Callable[[Array, float], Shares | None]


class Profile:
    """`free[i]`, by unit, holds from `times[i]` on; the first time is now, and the last lasts for ever."""

    def __init__(self, now: float, free: Array, ends_s: Array, released: Array) -> None:
        """`free` GPUs now; running jobs end at `ends_s`, later than now, and then give `released` back."""
        order = np.argsort(ends_s, kind="stable")
        times = np.concatenate(([now], ends_s.take(order)))
        total = np.vstack((free, released[order])).cumsum(axis=0)
        last = np.append(times[1:] > times[:-1], True)  # of several that end together, all are gone
        self.times: Array = times[last]
        self.free: Array = total[last]
        self._sums: Array | None = None  # of all units, while nothing changes

    @property
    def now(self) -> float:
        return float(self.times[0])

    def earliest(
        self, need: int, length_s: float, choose: Choose, after_s: float
    ) -> tuple[float, Shares] | None:
        """When a job first fits for so long, at `after_s` or later, and where; None: never."""
        if self._sums is None:
            self._sums = self.free.sum(axis=1)
        times, sums = self.times, self._sums
        first = max(int(times.searchsorted(after_s, side="right")) - 1, 0)
        starts = np.maximum(times[first:], after_s)
        short = np.append((sums < need).nonzero()[0], len(times))  # where too few are free in all
        ends_s = np.append(times, np.inf).take(short)
        reach = ends_s.take(short.searchsorted(np.arange(first, len(times))))
        for at in (reach >= starts + length_s).nonzero()[0].tolist():
            start = float(starts[at])
            if reach[at] > start and (shares := self.fits(start, length_s, choose)) is not None:
                return start, shares
        return None

    def fits(self, start_s: float, length_s: float, choose: Choose) -> Shares | None:
        """Where a job fits from a time on, for so long."""
        begin = int(self.times.searchsorted(start_s, side="right")) - 1
        end = max(int(self.times.searchsorted(start_s + length_s)), begin + 1)
        return choose(self.free[begin:end].min(axis=0), start_s)

    def take(self, start_s: float, length_s: float, shares: Shares, sign: int = 1) -> None:
        """Sets GPUs aside for so long; `sign=-1` gives them back."""
        begin, end = self.edge(start_s), self.edge(start_s + length_s)
        for unit, count in shares:
            self.free[begin:end, unit] -= sign * count
        self._sums = None

    def at(self, time_s: float) -> Array:
        """What is free, by unit, from a time on. Do not change it."""
        here: Array = self.free[int(self.times.searchsorted(time_s, side="right")) - 1]
        return here

    def edge(self, time_s: float) -> int:
        """The interval that begins at a time, cut off from another one if there is none."""
        at = int(self.times.searchsorted(time_s))
        if at == len(self.times) or self.times[at] != time_s:
            self.times = np.insert(self.times, at, time_s)
            self.free = np.insert(self.free, at, self.free[at - 1], axis=0)
        return at


def less(free: Array, shares: Shares) -> Array:
    """What is left of the free GPUs, by unit, when a job has taken its shares."""
    left = free.copy()
    for unit, count in shares:
        left[unit] -= count
    return left
