from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.placement.inside import InsideNode
from blox.placement.walk.by_node import place_by_node
from blox.placement.walk.counting import place_by_count
from blox.placement.walk.node_room import NodePool
from blox.placement.walk.room import Share
from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array


@register.placement("random")
@dataclass(frozen=True)
class Random(InsideNode):
    """Takes free GPUs at random (seeded): the placement that any careful one should beat."""

    uses_seed = True

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        def shuffled(free: Array, count: int) -> Array:
            return job_state.rng(self).permutation(free)[:count]

        if schedule.gpu_type is not None or job_state.typed:
            plan = place_by_node(schedule, cluster_state, job_state, _Scatter(job_state.rng(self)))
        else:
            plan = place_by_count(schedule, cluster_state, job_state, shuffled)
        return self.inside_nodes(plan, schedule, cluster_state, job_state)

    stable_until = for_ever


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
