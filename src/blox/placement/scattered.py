from __future__ import annotations

from dataclasses import dataclass

from blox import ClusterState, JobState, Plan, Schedule, register
from blox.placement.node_placement import NodePlacement
from blox.placement.walk.by_node import NodePool, Share, place_by_node
from blox.placement.walk.counting import place_by_count


@register.placement("scattered")
@dataclass(frozen=True)
class Scattered(NodePlacement):
    """The original Blox's search, for reproducing its results: nodes in ascending order.

    As published (`fixed=false`) it takes up to `need` GPUs from every node, not what is still missing, so
    it overshoots and fails unless the counts happen to add up. `fixed=true` mends that. In both, a job that
    was preempted for a job that finds no place stays preempted, and one that gets its own GPUs back in the
    same round has been preempted, too: it restarts, and counts as moved."""

    fixed: bool = False

    def place_on_nodes(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        # of jobs of one GPU that may use any both searches only count
        if job_state.single_gpu and not job_state.typed and schedule.gpus is schedule.gpu_type is None:
            return place_by_count(schedule, cluster_state, job_state)
        return place_by_node(schedule, cluster_state, job_state, self, undo=False)

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        if self.fixed:
            return pool.gather(range(len(pool.free)), need)
        shares: list[Share] = []
        missing = need
        for node, free in enumerate(pool.free):
            if free:
                shares.append((node, min(free, need)))
                missing -= shares[-1][1]
                if missing <= 0:
                    return None if missing else shares
        return None
