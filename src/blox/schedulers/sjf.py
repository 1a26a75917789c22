from __future__ import annotations

from dataclasses import dataclass

from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule


@register.scheduling("sjf")
@dataclass(frozen=True)
class Sjf:
    """Jobs that ask for the fewest GPUs go first ("smallest job first"), older ones among equals."""

    strict: bool = False
    preempt: bool = False

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        return Schedule.ordered(job_state, by=job_state.gpus, strict=self.strict, preempt=self.preempt)

    stable_until = for_ever
