from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from blox import ClusterState, JobState, register
from blox.placement.node_placement import NodePlacement
from blox.placement.walk.by_node import NodePool, RuleOfJob, Share


@register.placement("yarn")
@dataclass(frozen=True)
class Yarn(NodePlacement):
    """Packs a job under one switch (rack), first fit: on one node, or on idle nodes and one for the rest.

    A job that fits on one node waits until some node has room for all of it. A larger one takes as many
    wholly idle nodes as it can fill, in ascending order, and for what is left the first other node with room.
    Racks are tried in order; a job that no rack can hold never runs. Nodes that a job may not use do not
    count. It is what Tiresias was compared with; the simulator's own form of it, with its account of cores
    and memory, is in the compat preset.
    """

    def node_rule(self, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob:
        rack = cluster_state.node_rack
        edges = [0, *(np.flatnonzero(np.diff(rack)) + 1).tolist(), len(rack)]
        rule = _FirstFit(tuple(pairwise(edges)))
        return lambda row: rule


@dataclass(frozen=True)
class _FirstFit:
    """`racks` are ranges of nodes."""

    racks: tuple[tuple[int, int], ...]

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        racks = (self._under_one(pool, need, range(*rack)) for rack in self.racks)
        return next((shares for shares in racks if shares is not None), None)

    def _under_one(self, pool: NodePool, need: int, rack: range) -> list[Share] | None:
        free, sizes = pool.free, pool.sizes
        whole: dict[int, int] = {}  # idle node -> its GPUs
        if need > max(sizes[rack.start : rack.stop]):
            for node in rack:
                if 0 < free[node] == sizes[node] <= need:
                    whole[node] = sizes[node]
                    need -= sizes[node]
        if not need:
            return [*whole.items()]
        rest = next((node for node in rack if free[node] >= need and node not in whole), None)
        return None if rest is None else [*whole.items(), (rest, need)]
