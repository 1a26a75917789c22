"""Room: which GPUs are free during a walk, and where a job fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blox.workloads.table import Array

Share = tuple[int, int]  # (unit, number of its GPUs); a unit is usually a node
Shares = Sequence[Share]


class Room:
    """Number of free GPUs by unit. The walk calls it for one job (row) after another.

    `alike`: up to this need, refusing n GPUs implies refusing every later request for n or more, which is
    then not asked. `whole`: a request of up to this many GPUs goes on one unit or is refused.
    """

    alike: int = 0
    whole: int = 0

    def __init__(self, free: list[int] | Array) -> None:
        self.free = free
        self.total = int(sum(free))

    def choose(self, row: int, need: int) -> list[Share] | None:
        """The shares for a job of `need` GPUs; None: it is refused. Changes nothing.

        Called only when `need` GPUs are free in total."""
        raise NotImplementedError

    def gather(self, units: Iterable[int], need: int) -> list[Share] | None:
        """The free GPUs of `units`, in their order, until there are `need`; None: there are fewer."""
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
        """Puts a job back on its former shares `home`; False: they are not free, and nothing changes."""
        for unit, count in home:
            if self.free[unit] < count:
                return False
        for unit, count in home:
            self.take(row, unit, count)
        return True

    def take(self, row: int, unit: int, count: int) -> None:
        """Takes `count` GPUs of a unit for a job; below 0: gives them back."""
        self.free[unit] -= count
        self.total -= count
