from __future__ import annotations

from dataclasses import dataclass

from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule


@register.scheduling("fifo", elsewhere={"fcfs": "fifo"})
@dataclass(frozen=True)
class Fifo:
    """Jobs run in the order of their submission, each to its end.

    `strict=true`: a job that does not fit blocks those behind it; `strict=false`: they may pass it.
    `preempt=true` lets an older job displace younger ones that passed it.
    """

    strict: bool = True
    preempt: bool = False

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        return Schedule.ordered(job_state, strict=self.strict, preempt=self.preempt)

    stable_until = for_ever
