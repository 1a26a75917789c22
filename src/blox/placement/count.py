from __future__ import annotations

from dataclasses import dataclass

from blox.placement.walk.counting import place_by_count
from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.state.schedule import Schedule


@register.placement("count")
@dataclass(frozen=True)
class Count:
    """Counts GPUs and nothing else: the cluster is one pool, and no job is ever slowed by being spread.

    GPU types are not looked at either: a job that may use some types only gets any GPU.
    """

    ignores_nodes = True

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        return place_by_count(schedule, cluster_state, job_state)

    stable_until = for_ever
