"""The public Blox simulator, quirk by quirk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from blox.admission_control.accept_all import AcceptAll
from blox.admission_control.threshold import Threshold
from blox.composition import Composition
from blox.errors import BloxError
from blox.options import SimulationOptions
from blox.performance.duration import Duration
from blox.placement.scattered import Scattered
from blox.registry import check_choices, register
from blox.schedulers.promote import Promote
from blox.termination.completed import Completed

ORDERS = {
    "Fifo": "fifo:strict=true;preempt=true",
    "Las": "las:by=time;strict=true",
    "Tiresias": "las:by=time;strict=true",
    "Srtf": "srtf:by=wall;strict=true",
    "Optimus": "srtf:by=wall;strict=true",
}

# "Optimus" speeds every job up by a factor that depends on the cluster's load in jobs per hour.
OPTIMUS_FACTOR = {1: 5.0, 2: 3.0, 3: 1.4, 4: 1.2, 5: 1.1, 6: 1.0, 7: 1.0, 8: 1.0, 9: 1.0}


@register.compat("blox")
@dataclass(frozen=True)
class BloxCompat:
    """The public Blox simulator (EuroSys'24): strict order, whole rounds, responsiveness a round late."""

    policy: Literal["Fifo", "Las", "Srtf", "Tiresias", "Optimus"] = "Fifo"
    placement: Literal["asis", "fixed"] = "asis"
    accept: float | None = None
    load: float | None = None

    changes: ClassVar[dict[str, str]] = {
        "order": "strict: a job that does not fit ends the round for all jobs behind it",
        "Las": "least attained service by plain time, not GPU time",
        "Tiresias": "is single-queue LAS: the queues are computed and not used",
        "Optimus": "is SRTF, with progress multiplied by a constant for the `load` (1 to 9 jobs/hour)",
        "starvation": "a job that waits 3,600,000 s goes first for good; after a preemption, a round later",
        "preemption": "from the tail of the order, and not undone when the job does not fit after all",
        "placement=asis": "a job on several nodes is not placed when the last node has GPUs to spare",
        "placement=fixed": "the same search with that mistake mended",
        "accept": "jobs enter while those before them ask for at most accept x capacity: one too many",
        "whole_round_credit": "every running job is credited with whole rounds",
        "finish_at_boundary": "completions are rounded up to the end of the round",
        "responsiveness_late": "responsiveness is logged at the first credit, a round after the start",
        "overheads": "launching and preempting cost nothing",
        "preemptions": "a job suspended and launched again in the same round counts",
    }

    def __post_init__(self) -> None:
        check_choices(self)
        if self.policy == "Optimus" and self.load not in OPTIMUS_FACTOR:
            raise BloxError(
                f"policy=Optimus with load={self.load}",
                fix="give load=1 to load=9, the jobs per hour of the workload: its progress depends on it",
            )
        if self.accept is not None and not self.accept > 0:
            raise BloxError(f"accept is {self.accept}", fix="accept must be a number above 0, such as 1.2")

    def compose(self, round_s: float) -> Composition:
        factor = OPTIMUS_FACTOR[int(self.load)] if self.policy == "Optimus" and self.load is not None else 1.0
        return Composition(
            admission=AcceptAll() if self.accept is None else Threshold(self.accept, overshoot=True),
            scheduler=Promote(ORDERS[self.policy], after_s=3_600_000.0, lag_s=round_s),
            placement=Scattered(fixed=self.placement == "fixed"),
            termination=Completed(),
            performance=Duration(),
            options=SimulationOptions(
                whole_round_credit=True,
                credit_factor=factor,
                finish_at_boundary=True,
                responsiveness_late=True,
                moves_are_preemptions=True,
            ),
        )
