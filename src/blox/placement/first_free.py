from __future__ import annotations

from dataclasses import dataclass

from blox.placement.inside import InsideNode
from blox.placement.walk.by_node import place_by_node, same_rule
from blox.placement.walk.counting import place_by_count
from blox.placement.walk.node_room import NodePool, RuleOfJob
from blox.placement.walk.room import Share
from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.state.schedule import Schedule


@register.placement("first-free")
@dataclass(frozen=True)
class FirstFree(InsideNode):
    """Takes the free GPUs with the lowest ids, wherever they are (paper, Table 5: "first available")."""

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        if schedule.gpu_type is None and not job_state.typed and not cluster_state.windows:
            plan = place_by_count(schedule, cluster_state, job_state)
        else:
            plan = place_by_node(schedule, cluster_state, job_state, self)
        return self.inside_nodes(plan, schedule, cluster_state, job_state)

    stable_until = for_ever

    def node_rule(self, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob | None:
        """Any GPUs will do, unless jobs may use some nodes only."""
        matters = job_state.typed or bool(cluster_state.windows)
        return same_rule(self, cluster_state, job_state) if matters else None

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        """Nodes in ascending order, for jobs that may use some GPU types only."""
        shares: list[Share] = []
        for node, free in enumerate(pool.free):
            if free:
                shares.append((node, min(free, need)))
                need -= shares[-1][1]
                if not need:
                    return shares
        return None
