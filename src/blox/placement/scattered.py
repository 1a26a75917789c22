from __future__ import annotations

from dataclasses import dataclass

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


@register.placement("scattered")
@dataclass(frozen=True)
class Scattered(InsideNode):
    """The original Blox's search, for reproducing its results: nodes in ascending order.

    As published (`fixed=false`) it takes up to `need` GPUs from every node, not what is still missing, so
    it overshoots and fails unless the counts happen to add up. `fixed=true` mends that. In both, a job that
    was preempted for a job that finds no place stays preempted."""

    fixed: bool = False

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        if schedule.gpus is None and job_state.single_gpu:  # then both searches only count
            plan = place_by_count(schedule, cluster_state, job_state)
        else:
            plan = place_by_node(schedule, cluster_state, job_state, self, undo=False)
        return self.inside_nodes(plan, schedule, cluster_state, job_state)

    stable_until = for_ever

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        shares: list[Share] = []
        missing = need
        for node, free in enumerate(pool.free):
            if not free:
                continue
            taken = min(free, missing if self.fixed else need)
            shares.append((node, taken))
            missing -= taken
            if missing == 0:
                return shares
            if missing < 0:
                return None
        return None
