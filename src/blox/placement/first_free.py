from __future__ import annotations

from dataclasses import dataclass

from blox import ClusterState, JobState, Plan, Schedule, register
from blox.placement.node_placement import NodePlacement
from blox.placement.walk.by_node import NodePool, RuleOfJob, SameRule, Share, place_by_node
from blox.placement.walk.counting import place_by_count


@register.placement("first-free")
@dataclass(frozen=True)
class FirstFree(NodePlacement):
    """Takes the free GPUs with the lowest ids, wherever they are (paper, Table 5: "first available")."""

    def place_on_nodes(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        if schedule.gpu_type is None and self.node_rule(cluster_state, job_state) is None:
            return place_by_count(schedule, cluster_state, job_state)
        return place_by_node(schedule, cluster_state, job_state, self)

    def node_rule(self, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob | None:  # type: ignore[override]
        """Any GPUs will do, unless jobs may use some nodes only."""
        matters = job_state.typed or bool(cluster_state.windows)
        return SameRule(self) if matters else None

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        """Nodes in ascending order, for jobs that may use some GPU types only."""
        return pool.gather(range(len(pool.free)), need)
