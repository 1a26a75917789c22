"""Clocks for looking far ahead: policies that share time are asked less and less often.

What happens is acted on as ever. What a part would change by itself, such as the turns of jobs that share
GPUs, is asked for at intervals that grow with the time passed, so a look ahead over weeks takes few more
rounds than one over hours. Policies whose answers change only when something happens are simulated exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from blox.clock import Clock, Events, Rounds


@dataclass(frozen=True)
class PatientRounds(Rounds):
    """Rounds; between two questions that no event asks for lies `growth` of the time since `from_s`."""

    from_s: float = 0.0
    growth: float = 0.25

    def next_wake(self, now: float, event: float, stable: float) -> float:
        return super().next_wake(now, event, max(stable, now + self.growth * (now - self.from_s)))


@dataclass(frozen=True)
class PatientEvents(Events):
    """The same for the events clock."""

    from_s: float = 0.0
    growth: float = 0.25

    def next_wake(self, now: float, event: float, stable: float) -> float:
        if stable > -math.inf:
            stable = max(stable, now + self.growth * (now - self.from_s))
        return super().next_wake(now, event, stable)


def patient(clock: Clock, from_s: float, growth: float) -> Clock:
    """A patient form of a clock, for a look ahead that begins at `from_s`; others stay as they are."""
    if isinstance(clock, Rounds):
        return PatientRounds(clock.round_s, from_s, growth)
    if isinstance(clock, Events):
        return PatientEvents(clock.quantum_s, from_s, growth)
    return clock
