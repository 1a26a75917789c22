from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blox import ClusterState, JobState, Plan, Schedule, register
from blox.placement.node_placement import NodePlacement
from blox.placement.walk.by_node import NodePool, Share, place_by_node, same_rule


@register.placement("consolidated")
@dataclass(frozen=True)
class Consolidated(NodePlacement):
    """Puts a job on the fewest nodes, best fit; if these have no room, it waits or spreads.

    `fallback=wait`: the job is not placed on more nodes than it needs. `fallback=spread`: it then takes
    the nodes with most free GPUs. Best fit: of the nodes that can hold the job (or its last part), the
    one with the fewest free GPUs, and of those the one with the lowest id.
    """

    fallback: Literal["wait", "spread"] = "wait"

    def place_on_nodes(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        best_fit = self.fallback == "wait"
        return place_by_node(schedule, cluster_state, job_state, self, best_fit=best_fit)

    node_rule = same_rule

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        if need <= pool.top:
            node = pool.best_fit(need)
            if node >= 0:
                return [(node, need)]
            if self.fallback == "wait":
                return None
        nodes = sorted(range(len(pool.free)), key=lambda node: -pool.free[node])
        shares = pool.gather(nodes, need)
        if shares is None or (self.fallback == "wait" and len(shares) > pool.fewest(need)):
            return None
        *filled, (_, rest) = shares  # the last part goes to its best fit
        fits = [node for node in nodes[len(filled) :] if pool.free[node] >= rest]
        return [*filled, (min(fits, key=lambda node: (pool.free[node], node)), rest)]
