from __future__ import annotations

from dataclasses import dataclass

from blox.cluster_state import ClusterState
from blox.job_state import JobState
from blox.placement.by_count import place_by_count
from blox.plan import Allocation
from blox.registry import register
from blox.schedule import Schedule
from blox.workloads.table import Array


@register.placement("random")
@dataclass(frozen=True)
class Random:
    """Takes free GPUs at random (seeded): the placement that any careful one should beat."""

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Allocation:
        def shuffled(free: Array, count: int) -> Array:
            return job_state.rng(self).permutation(free)[:count]

        return place_by_count(schedule, cluster_state, job_state, shuffled)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        return float("inf")
