"""When the loop wakes: at the boundaries of rounds, or when something happens.

A clock never adds up round lengths; it computes each wake-up anew, so that a round that overruns goes
on at the next boundary and rounds in which nothing can change are passed over.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Protocol

from blox.errors import BloxError

# A round shorter than a millisecond ends no run within a day; one longer than any job ends with nothing done.
SHORTEST_S, LONGEST_S = 0.001, 1e9
SHORTEST_QUANTUM_S = 1e-9  # most wake-ups of the events clock are due to events: it can be shorter

# From so many rounds on, the next multiple of a round is no number of its own.
MOST_EXACT = 2.0**53

# A promise is the result of arithmetic: of a boundary it may miss by a rounding error, it says nothing.
_GRAIN = 1e-9


class Clock(Protocol):
    """Gives the next wake-up after `now`.

    `event`: when the backend next has something to say (inf: never). `stable`: until when every part of
    the scheduler promises to decide as it just did; -inf means that no such promise was made.
    """

    def next_wake(self, now: float, event: float, stable: float) -> float: ...

    def wakes_before(self, time_s: float) -> int:
        """How many wake-ups there could have been before `time_s`, for `max_rounds`; -1: count them."""
        ...


def following(now: float, round_s: float) -> float:
    """The first multiple of `round_s` after `now`; the next number where multiples are no longer exact."""
    rounds = now / round_s
    if rounds > MOST_EXACT:
        return math.nextafter(now, math.inf)
    number = math.floor(rounds) + 1
    if number * round_s <= now:
        number += 1
    return number * round_s


@dataclass(frozen=True)
class Rounds:
    """Wakes at multiples of `round_s`; what happens inside a round is acted on at its end."""

    round_s: float = 300.0

    def __post_init__(self) -> None:
        if not SHORTEST_S <= self.round_s <= LONGEST_S:
            fix = f"give a number of seconds above 0: {SHORTEST_S:g} to {LONGEST_S:,.0f}"
            raise BloxError(f"the round is {self.round_s!r} s", where="round", fix=fix)

    def end_of_round(self, now: float) -> float:
        """The first wake-up after `now` if nothing is passed over."""
        return following(now, self.round_s)

    def next_wake(self, now: float, event: float, stable: float) -> float:
        if stable < math.inf:
            stable -= _GRAIN * abs(stable)
        target = event if event < stable else stable
        soonest = following(now, self.round_s)
        if target <= soonest:
            return soonest
        if target == math.inf:
            return math.inf
        rounds = target / self.round_s
        if rounds > MOST_EXACT:
            return target
        number = math.ceil(rounds)
        while number * self.round_s < target:
            number += 1
        while (number - 1) * self.round_s >= target:
            number -= 1
        return number * self.round_s

    def wakes_before(self, time_s: float) -> int:
        return math.ceil(time_s / self.round_s) if time_s < math.inf else sys.maxsize


@dataclass(frozen=True)
class Events:
    """Wakes when something happens (churn-based scheduling), and when a part says that its answer may change.

    `quantum_s` is the least time between two wake-ups that are due to a part's own clock, so that
    policies which share time finely do not stop the world.
    """

    quantum_s: float = 1.0

    def __post_init__(self) -> None:
        if not SHORTEST_QUANTUM_S <= self.quantum_s <= LONGEST_S:
            fix = f"give a number of seconds above 0: {SHORTEST_QUANTUM_S:g} to {LONGEST_S:,.0f}"
            raise BloxError(f"quantum_s is {self.quantum_s!r}", fix=fix)

    def next_wake(self, now: float, event: float, stable: float) -> float:
        if event <= now:
            event = math.nextafter(now, math.inf)
        if stable >= event or stable == -math.inf:
            return event
        own = now + self.quantum_s
        if stable > own:
            own = stable
        return own if own < event else event

    def wakes_before(self, time_s: float) -> int:
        return -1
