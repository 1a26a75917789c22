from __future__ import annotations

from dataclasses import dataclass

from blox import register
from blox.placement.node_placement import NodePlacement
from blox.placement.walk.by_node import NodePool, Share, same_rule


@register.placement("fragments")
@dataclass(frozen=True)
class Fragments(NodePlacement):
    """Fills the smallest gaps first, whatever that spreads a job over, so that whole nodes stay free.

    Nodes are taken in the order of their free GPUs, the fewest first; among equals the lowest id.
    """

    node_rule = same_rule

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        if need == 1:
            node = pool.best_fit(1)
            return [(node, 1)] if node >= 0 else None
        nodes = [node for node, free in enumerate(pool.free) if free]
        return pool.gather(sorted(nodes, key=pool.free.__getitem__), need)
