from __future__ import annotations

from dataclasses import dataclass

from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule


@register.scheduling("fifo-priority")
@dataclass(frozen=True)
class FifoPriority:
    """Jobs with a larger `priority` go first, and in the order of their submission among equals.

    `preempt=true`: an urgent job displaces less urgent ones. `strict=true`: a job that does not fit
    blocks those behind it.
    """

    strict: bool = False
    preempt: bool = True

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        return Schedule.ordered(job_state, by=-job_state.priority, strict=self.strict, preempt=self.preempt)

    stable_until = for_ever
