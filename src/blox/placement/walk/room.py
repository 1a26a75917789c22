"""Room: what is free while a walk goes on, and how a job finds its place there."""

from __future__ import annotations

from typing import Protocol

Share = tuple[int, int]  # (unit, GPUs of it); a unit is a node as a rule


class Room(Protocol):
    """Asked by the walk for one job after another. Jobs are rows."""

    @property
    def total(self) -> int:
        """Free GPUs."""
        ...

    def choose(self, row: int, need: int) -> list[Share] | None:
        """Where a job of `need` GPUs goes, or None. Changes nothing."""
        ...

    def choose_after(self, row: int, need: int, given: list[Share]) -> list[Share] | None:
        """The same after a job was refused, and these shares have been given back since."""
        ...

    def fits(self, row: int, shares: list[Share]) -> bool:
        """Whether a job can go back where it was."""
        ...

    def take(self, row: int, shares: list[Share]) -> None:
        """A job takes its shares."""
        ...

    def give(self, row: int, shares: list[Share]) -> None:
        """A job gives its shares back."""
        ...

    def hopeless(self, need: int) -> bool:
        """Whether a job that needs so many GPUs is sure to be refused, as others were before it."""
        ...

    def refuse(self, need: int) -> None:
        """A job that needs so many GPUs found no place, not even by displacing others."""
        ...
