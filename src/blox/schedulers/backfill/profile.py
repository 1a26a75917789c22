"""Profile: the free GPUs over the time to come, less what has been set aside for jobs.

A unit is a node where it matters on which nodes a job runs, and otherwise the whole cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from blox.placement.walk.room import Share
from blox.workloads.table import Array

Shares = Sequence[Share]
# (free GPUs by unit, when the job would start) -> the GPUs that it would take, or None
Choose = Callable[[Array, float], Shares | None]
Span = tuple[float, float, Shares]  # begin (s), length (s), GPUs


class Want(NamedTuple):
    """What a job needs: GPUs, for so long; `whole`: all on one unit."""

    gpus: int
    length_s: float
    whole: bool


@dataclass(frozen=True, eq=False)
class Wants:
    """The same of many jobs, as columns."""

    gpus: Array
    length_s: Array
    whole: Array

    def __getitem__(self, at: int) -> Want:
        return Want(int(self.gpus[at]), float(self.length_s[at]), bool(self.whole[at]))

    def take(self, places: Array) -> Wants:
        return Wants(self.gpus[places], self.length_s[places], self.whole[places])


class Profile:
    """`free[i]`, by unit, holds from `times[i]` on; the first time is now, and the last lasts for ever."""

    def __init__(self, now: float, free: Array, ends_s: Array, released: Array) -> None:
        """`free` GPUs now; running jobs end at `ends_s`, later than now, and then give `released` back."""
        order = np.argsort(ends_s, kind="stable")
        times = np.concatenate(([now], ends_s.take(order)))
        total = np.vstack((free, released[order])).cumsum(axis=0)
        last = np.append(times[1:] > times[:-1], True)  # of several that end together, all are gone
        self._set(times[last], total[last])

    def _set(self, times: Array, free: Array) -> None:
        self._size = len(times)  # in use: what is behind is room for more times
        self._times, self._free, self._sums = times, free, free.sum(axis=1)

    @property
    def times(self) -> Array:
        return self._times[: self._size]

    @property
    def free(self) -> Array:
        """By time and unit. Do not change it."""
        return self._free[: self._size]

    @property
    def now(self) -> float:
        return float(self._times[0])

    def earliest(self, want: Want, choose: Choose, after_s: float) -> tuple[float, Shares] | None:
        """When a job first fits, at `after_s` or later, and where; None: never."""
        first = max(int(self.times.searchsorted(after_s, side="right")) - 1, 0)
        starts = np.maximum(self.times[first:], after_s)
        reach = self._reach(want.gpus, want.whole)[first:].max(axis=1)
        for at in ((reach >= starts + want.length_s) & (reach > starts)).nonzero()[0].tolist():
            start = float(starts[at])
            if (shares := self.fits(start, want.length_s, choose)) is not None:
                return start, shares
        return None

    def sooner(self, wants: Wants, begin_s: Array, own: Array) -> Array:
        """Which jobs might fit before: they have GPUs set aside from `begin_s` on, on the unit `own`.

        Where that is not one unit, `own` is 0; of a job that has nothing set aside, `begin_s` is inf.
        """
        found = np.zeros(len(begin_s), dtype=bool)
        for gpus, whole in set(zip(wants.gpus.tolist(), wants.whole.tolist())):
            alike = ((wants.gpus == gpus) & (wants.whole == whole)).nonzero()[0]
            begin, reach = begin_s.take(alike), self._reach(gpus, whole)
            before = self.times.searchsorted(begin) - 1  # the last time before the job's own; -1: none
            longest = np.maximum.accumulate(reach.max(axis=1) - self.times)
            enough = longest.take(before) >= wants.length_s.take(alike)
            enough |= reach[before, own.take(alike)] >= begin  # and then it goes on into its own
            found[alike] = enough & (before >= 0)
        return found

    def _reach(self, gpus: int, whole: bool) -> Array:
        """By time and unit, until when so many GPUs are free from then on; the time itself: they are not.

        Of all units together, in one column, where a job need not be `whole` on one.
        """
        free = self.free if whole else self._sums[: self._size, None]
        short_s = np.where(free < gpus, self.times[:, None], np.inf)
        found: Array = np.minimum.accumulate(short_s[::-1], axis=0)[::-1]
        return found

    def fits(self, start_s: float, length_s: float, choose: Choose) -> Shares | None:
        """Where a job fits from a time on, for so long."""
        begin, end = self._during(start_s, length_s)
        return choose(self._free[begin:end].min(axis=0), start_s)

    def holds(self, start_s: float, length_s: float, shares: Shares) -> bool:
        """Whether these very GPUs are free from a time on, for so long."""
        begin, end = self._during(start_s, length_s)
        return all(self._free[begin:end, unit].min() >= count for unit, count in shares)

    def _during(self, start_s: float, length_s: float) -> tuple[int, int]:
        begin = int(self.times.searchsorted(start_s, side="right")) - 1
        return begin, max(int(self.times.searchsorted(start_s + length_s)), begin + 1)

    def take(self, start_s: float, length_s: float, shares: Shares, sign: int = 1) -> None:
        """Sets GPUs aside for so long; `sign=-1` gives them back."""
        begin, end = self.edge(start_s), self.edge(start_s + length_s)
        for unit, count in shares:
            self._free[begin:end, unit] -= sign * count
            self._sums[begin:end] -= sign * count

    def take_all(self, spans: Sequence[Span]) -> bool:
        """Sets the GPUs of many jobs aside, if all are free; otherwise it returns False and takes none."""
        starts = np.array([start_s for start_s, _, _ in spans])
        ends = starts + np.array([length_s for _, length_s, _ in spans])
        times = np.unique(np.concatenate((self.times, starts, ends)))
        change = np.zeros((len(times), self._free.shape[1]), dtype=self._free.dtype)
        cells = [(at, *share) for at, (_, _, shares) in enumerate(spans) for share in shares]
        of, unit, count = np.array(cells, dtype=np.int64).reshape(-1, 3).T
        np.subtract.at(change, (times.searchsorted(starts).take(of), unit), count)
        np.add.at(change, (times.searchsorted(ends).take(of), unit), count)
        free = self.free[self.times.searchsorted(times, side="right") - 1] + change.cumsum(axis=0)
        if free.min(initial=0) < 0:
            return False
        self._set(times, free)
        return True

    def free_from(self, time_s: float, units: Array, gpus: Array) -> None:
        """All these GPUs of units are free from a time on."""
        at = self.edge(time_s)
        self._free[at : self._size, units] = gpus
        self._sums[at : self._size] = self._free[at : self._size].sum(axis=1)

    def at(self, time_s: float) -> Array:
        """What is free, by unit, from a time on. Do not change it."""
        here: Array = self._free[int(self.times.searchsorted(time_s, side="right")) - 1]
        return here

    def edge(self, time_s: float) -> int:
        """The interval that begins at a time, cut off from another one if there is none."""
        at, size = int(self.times.searchsorted(time_s)), self._size
        if at < size and self._times[at] == time_s:
            return at
        if size == len(self._times):
            self._times, self._free, self._sums = (
                np.concatenate((column, np.empty_like(column)))
                for column in (self._times, self._free, self._sums)
            )
        for column in (self._times, self._free, self._sums):
            column[at + 1 : size + 1] = column[at:size]
        self._times[at], self._free[at], self._sums[at] = time_s, self._free[at - 1], self._sums[at - 1]
        self._size += 1
        return at


def less(free: Array, shares: Shares) -> Array:
    """What is left of the free GPUs, by unit, when a job has taken its shares."""
    left = free.copy()
    for unit, count in shares:
        left[unit] -= count
    return left
