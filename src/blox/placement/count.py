from __future__ import annotations

from dataclasses import dataclass

from blox import ClusterState, JobState, Plan, Schedule, register
from blox.placement.walk.counting import place_by_count
from blox.protocols import for_ever


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
