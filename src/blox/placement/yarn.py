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
    Racks are tried in order; a job that no rack can hold never runs. It is what Tiresias was compared with;
    the simulator's own form of it, with its account of cores and memory, is in the compat preset.
    """

    def node_rule(self, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob:
        rack = cluster_state.node_rack
        edges = [0, *(np.flatnonzero(np.diff(rack)) + 1).tolist(), len(rack)]
        rule = _FirstFit(tuple(pairwise(edges)), tuple(cluster_state.node_gpus.tolist()))
        return lambda row: rule


@dataclass(frozen=True)
class _FirstFit:
    """`racks` are ranges of nodes, `size` the GPUs of each node."""

    racks: tuple[tuple[int, int], ...]
    size: tuple[int, ...]

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        racks = (self._under_one(pool, need, range(*rack)) for rack in self.racks)
        return next((shares for shares in racks if shares is not None), None)

    def _under_one(self, pool: NodePool, need: int, rack: range) -> list[Share] | None:
        whole: dict[int, int] = {}  # idle node -> its GPUs
        if need > max(self.size[node] for node in rack):
            for node in rack:
                if pool.free[node] == self.size[node] <= need:
                    whole[node] = self.size[node]
                    need -= self.size[node]
        if not need:
            return [*whole.items()]
        rest = next((node for node in rack if node not in whole and pool.free[node] >= need), None)
        return None if rest is None else [*whole.items(), (rest, need)]
