"""Room: what is free while a walk goes on, and where a job finds its place there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blox.workloads.table import Array

Share = tuple[int, int]  # (unit, GPUs of it); a unit is a node as a rule
Shares = Sequence[Share]


class Room:
    """Free GPUs by unit. Asked by the walk for one job after another; jobs are rows.

    `alike`: of jobs that need up to so many GPUs, once one is refused, every later one that needs as many or
    more is refused without being asked for. `whole`: jobs that need up to so many go on one unit, or nowhere.
    """

    alike: int = 0
    whole: int = 0

    def __init__(self, free: list[int] | Array) -> None:
        self.free = free
        self.total = int(sum(free))

    def choose(self, row: int, need: int) -> list[Share] | None:
        """Where a job of `need` GPUs goes, or None; as many are free in all. Changes nothing."""
        raise NotImplementedError

    def gather(self, units: Iterable[int], need: int) -> list[Share] | None:
        """Free GPUs of these units, one unit after another, until there are `need`; None: they are fewer."""
        free, shares = self.free, []
        for unit in units:
            if free[unit]:
                count = min(free[unit], need)
                shares.append((unit, count))
                need -= count
                if not need:
                    return shares
        return None

    def take_back(self, row: int, home: Shares) -> bool:
        """Puts a job back where it was, if that is free; False: it is not, and nothing changes."""
        for unit, count in home:
            if self.free[unit] < count:
                return False
        for unit, count in home:
            self.take(row, unit, count)
        return True

    def take(self, row: int, unit: int, count: int) -> None:
        """A job takes GPUs of a unit; below 0: it gives them back."""
        self.free[unit] -= count
        self.total -= count
