"""Named ways in which a simulation can behave like another system. Compat presets set them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class SimulationOptions:
    """Every option is off by default; what it does is in its description."""

    whole_round_credit: bool = field(
        default=False,
        metadata={"does": "a running job is credited with whole rounds, added up as the original adds them"},
    )
    credit_factor: float = field(
        default=1.0,
        metadata={"does": "a round is credited as so many (the original's Optimus, by cluster load)"},
    )
    finish_at_boundary: bool = field(
        default=False,
        metadata={"does": "a completion counts from the end of its round, not from its exact time"},
    )
    responsiveness_late: bool = field(
        default=False,
        metadata={"does": "responsiveness is logged when a job is first credited, a round late"},
    )
    moves_are_preemptions: bool = field(
        default=False,
        metadata={"does": "a job suspended and launched again in one round counts as preempted"},
    )
    whole_seconds: bool = field(
        default=False,
        metadata={"does": "durations and times of submission are cut down to whole seconds"},
    )
    oversized_wait: bool = field(
        default=False,
        metadata={"does": "a job that is larger than the cluster waits for ever in place of being refused"},
    )
    unlimited_gpus: bool = field(
        default=False,
        metadata={"does": "there are as many GPUs as all jobs ask for together: every job fits at once"},
    )
