from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox import ClusterState, JobState, Plan, Schedule, register
from blox.placement.node_placement import NodePlacement
from blox.placement.walk.by_node import NodePool, Share, place_by_node
from blox.placement.walk.counting import place_by_count
from blox.workloads.table import Array


@register.placement("random")
@dataclass(frozen=True)
class Random(NodePlacement):
    """Takes free GPUs at random (seeded): the placement that any careful one should beat."""

    uses_seed = True

    def place_on_nodes(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        def shuffled(free: Array, count: int) -> Array:
            return job_state.rng(self).permutation(free)[:count]

        if schedule.gpu_type is not None or job_state.typed:
            return place_by_node(schedule, cluster_state, job_state, _Scatter(job_state.rng(self)))
        return place_by_count(schedule, cluster_state, job_state, shuffled)


@dataclass(frozen=True)
class _Scatter:
    """The same for jobs that may use some GPU types only: nodes drawn by their free GPUs."""

    rng: np.random.Generator

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        if need > pool.total:
            return None
        free = np.repeat(np.arange(len(pool.free)), pool.free)
        nodes, counts = np.unique(self.rng.permutation(free)[:need], return_counts=True)
        return list(zip(nodes.tolist(), counts.tolist()))
