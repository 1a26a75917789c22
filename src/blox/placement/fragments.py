from __future__ import annotations

from dataclasses import dataclass

from blox.placement.inside import InsideNode
from blox.placement.walk.by_node import place_by_node, same_rule
from blox.placement.walk.node_room import NodePool
from blox.placement.walk.room import Share
from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.state.schedule import Schedule


@register.placement("fragments")
@dataclass(frozen=True)
class Fragments(InsideNode):
    """Fills the smallest gaps first, whatever that spreads a job over, so that whole nodes stay free.

    Nodes are taken in the order of their free GPUs, the fewest first; among equals the lowest id.
    """

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        plan = place_by_node(schedule, cluster_state, job_state, self)
        return self.inside_nodes(plan, schedule, cluster_state, job_state)

    stable_until = for_ever
    node_rule = same_rule

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        if need == 1:
            node = pool.best_fit(1)
            return [(node, 1)] if node >= 0 else None
        shares: list[Share] = []
        for free, node in sorted((free, node) for node, free in enumerate(pool.free) if free):
            shares.append((node, min(free, need)))
            need -= shares[-1][1]
            if not need:
                return shares
        return None
