"""Part: what a node holds of one epoch of a job, from the grant until the scheduler drops it."""

from __future__ import annotations

from dataclasses import dataclass, field

from blox.cluster.preemption import Preemption
from blox.cluster.protocol.messages import Grant, Outcome, PartReport, worst


@dataclass
class Part:
    """`live` are the ranks whose processes have not ended. A part starts once and never again."""

    grant: Grant
    preemption: Preemption
    live: set[int] = field(default_factory=set)
    started: bool = False
    stop_since: float | None = None  # when the lease was revoked
    killed: bool = False
    out_of_contact: bool = False  # it was stopped because the scheduler could not be reached
    exit_at: int | None = None  # the iteration after which all ranks leave
    unaware: set[str] = field(default_factory=set)  # nodes that have not confirmed it
    ends: list[Outcome] = field(default_factory=list)  # of ranks that have ended
    asked: int = -1  # central renewal: the iteration that the lead waits for
    iteration: int = -1
    checkpoint: int = -1
    detail: str = ""
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return bool(self.ends) and not self.live

    @property
    def exit_agreed(self) -> bool:
        """Whether every node of the job knows when to leave."""
        return self.exit_at is not None and not self.unaware

    def report(self) -> PartReport:
        return PartReport(
            self.grant.job,
            self.grant.epoch,
            live=not self.ended,
            outcome=worst(self.ends) if self.ended or "failed" in self.ends else "",
            started=self.started,
            iteration=self.iteration,
            checkpoint=self.checkpoint,
            detail=self.detail,
            metrics=self.metrics,
        )
