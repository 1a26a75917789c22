"""Clocks for looking far ahead: the further, the less often policies are asked.

What a part would change by itself, such as the turns of jobs that share GPUs, is asked for at intervals that
grow with the time passed, so a look ahead over weeks takes few more rounds than one over hours. What happens
is acted on as ever, and policies whose answers change only then are simulated exactly, unless `longest_s`
lets rounds grow as well: GPUs that come free are then handed out up to so much later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from blox.clock import Clock, Events, Rounds


@dataclass(frozen=True)
class PatientRounds(Rounds):
    """Rounds; between two questions that no event asks for lies `growth` of the time since `from_s`.

    So long a time lies between any two rounds, too, up to `longest_s`.
    """

    from_s: float = 0.0
    growth: float = 0.25
    longest_s: float = 0.0

    def next_wake(self, now: float, event: float, stable: float) -> float:
        interval_s = self.growth * (now - self.from_s)
        stable, apart_s = max(stable, now + interval_s), min(interval_s, self.longest_s)
        return super().next_wake(now, max(event, now + apart_s), stable)


@dataclass(frozen=True)
class PatientEvents(Events):
    """The same for the events clock."""

    from_s: float = 0.0
    growth: float = 0.25
    longest_s: float = 0.0

    def next_wake(self, now: float, event: float, stable: float) -> float:
        interval_s = self.growth * (now - self.from_s)
        if stable > -math.inf:
            stable = max(stable, now + interval_s)
        return super().next_wake(now, max(event, now + min(interval_s, self.longest_s)), stable)


def patient(clock: Clock, from_s: float, growth: float, longest_s: float = 0.0) -> Clock:
    """A patient form of a clock, for a look ahead that begins at `from_s`; others stay as they are."""
    if isinstance(clock, Rounds):
        return PatientRounds(clock.round_s, from_s, growth, longest_s)
    if isinstance(clock, Events):
        return PatientEvents(clock.quantum_s, from_s, growth, longest_s)
    return clock
