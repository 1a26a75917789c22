"""Rounds that do not begin at 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blox.clock import Rounds, following
from blox.manager import BloxManager


@dataclass(frozen=True)
class RoundsFrom(Rounds):
    """Wakes at `first_s` and every `round_s` from then on."""

    first_s: float = 0.0

    def end_of_round(self, now: float) -> float:
        return self.first_s + following(now - self.first_s, self.round_s)

    def next_wake(self, now: float, event: float, stable: float) -> float:
        first = self.first_s
        return first + super().next_wake(now - first, event - first, stable - first)

    def wakes_before(self, time_s: float) -> int:
        return super().wakes_before(time_s - self.first_s)


class LateStart(BloxManager):
    """The manager whose first round is when the clock's is."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        if isinstance(self.clock, RoundsFrom):
            self.now = self.clock.first_s
