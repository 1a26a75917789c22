"""ClusterState: nodes and GPUs, what is free, who holds what, and how the parts are connected.

GPU ids count up node by node, so the GPUs of a node are one contiguous range. What a cluster looks like
is described by a ClusterSpec; this is that cluster at work.
"""

from __future__ import annotations

import copy

import numpy as np

from blox.cluster_spec import ClusterSpec
from blox.plan import Allocation
from blox.workloads.table import Array

WHOLE = 1000  # thousandths of a GPU


class ClusterState:
    """Nodes (name, rack, GPUs, CPU cores, memory), GPUs (node, type, free thousandths), the allocation.

    `allocation` is what was commanded. A GPU is free for a whole-GPU job when nobody holds any share of
    it and its node is up.
    """

    def __init__(self, spec: ClusterSpec) -> None:
        self.spec = spec
        self.gpu_types: tuple[str, ...] = spec.gpu_types
        self.node_name: list[str] = [node.name for node in spec.nodes]
        self.node_gpus: Array = np.array([node.gpus for node in spec.nodes], dtype=np.int64)
        self.node_first: Array = np.concatenate(([0], np.cumsum(self.node_gpus)[:-1])).astype(np.int64)
        self.node_cpu: Array = np.array([node.cpu for node in spec.nodes], dtype=np.float64)
        self.node_memory_gb: Array = np.array([node.memory_gb for node in spec.nodes], dtype=np.float64)
        self.node_rack: Array = np.array([node.rack for node in spec.nodes], dtype=np.int64)
        kinds = {name: index for index, name in enumerate(self.gpu_types)}
        self.node_type: Array = np.array([kinds[node.gpu_type] for node in spec.nodes], dtype=np.int64)
        self.node_up: Array = np.ones(len(spec.nodes), dtype=bool)
        self._some_down = False
        self.gpu_node: Array = np.repeat(np.arange(len(spec.nodes)), self.node_gpus)
        self.gpu_type: Array = self.node_type[self.gpu_node]
        self.free_milli: Array = np.full(len(self.gpu_node), WHOLE, dtype=np.int64)
        self.node_free: Array = self.node_gpus.copy()  # whole free GPUs per node
        self.free_gpus: int = int(self.node_gpus.sum())
        self.total_gpus: int = self.free_gpus  # of the nodes that are up
        self.one_pool = False  # nodes do not matter: being spread never counts
        self.allocation = Allocation()

    @property
    def nodes(self) -> int:
        return len(self.node_gpus)

    def free_ids(self) -> Array:
        """Ids of the GPUs that are wholly free, ascending."""
        return np.flatnonzero(self.free_milli == WHOLE)

    def take(self, gpus: Array) -> None:
        """GPUs are given out whole."""
        self.free_milli[gpus] = 0
        self.free_gpus -= len(gpus)
        self._count(gpus, -1)

    def release(self, gpus: Array) -> None:
        """GPUs come back whole; those of a node that is down stay unusable."""
        if self._some_down:
            gpus = gpus[self.node_up[self.gpu_node[gpus]]]
        self.free_milli[gpus] = WHOLE
        self.free_gpus += len(gpus)
        self._count(gpus, 1)

    def _count(self, gpus: Array, sign: int) -> None:
        """Keeps the free GPUs per node in step."""
        if len(gpus) == 1:
            self.node_free[self.gpu_node[gpus[0]]] += sign
        else:
            np.add.at(self.node_free, self.gpu_node[gpus], sign)

    def set_node_up(self, node: int, up: bool) -> Array:
        """A node comes or goes. Returns the jobs that stood on it: they must be stopped by the caller."""
        if bool(self.node_up[node]) == up:
            return np.empty(0, dtype=np.int64)
        self.node_up[node] = up
        self._some_down = not self.node_up.all()
        first, count = int(self.node_first[node]), int(self.node_gpus[node])
        here = np.arange(first, first + count)
        held = np.isin(self.allocation.gpus, here)
        owners = np.repeat(self.allocation.jobs, self.allocation.counts)[held]
        busy = self.allocation.gpus[held]
        idle = np.setdiff1d(here, busy)
        sign = 1 if up else -1
        self.total_gpus += sign * count
        self.free_gpus += sign * len(idle)
        self.node_free[node] = len(idle) if up else 0
        self.free_milli[idle] = WHOLE if up else 0
        return np.unique(owners)

    def is_consolidated(self, allocation: Allocation) -> Array:
        """Which jobs stand on as few nodes as the largest node type allows for their GPU count."""
        if self.one_pool:
            return np.ones(len(allocation.jobs), dtype=bool)
        nodes = self.gpu_node[allocation.gpus]
        owner = np.repeat(np.arange(len(allocation.jobs)), allocation.counts)
        pairs = np.unique(owner * self.nodes + nodes) // self.nodes
        spans = np.bincount(pairs, minlength=len(allocation.jobs))
        return np.asarray(spans <= -(-allocation.counts // int(self.node_gpus.max())))

    def fragmentation(self) -> float:
        """Share of the free GPUs that are on partly used nodes: 0 when whole nodes are free, or nothing is."""
        if not self.free_gpus:
            return 0.0
        partly = self.node_free[self.node_free < self.node_gpus].sum()
        return float(partly) / self.free_gpus

    def fork(self) -> ClusterState:
        """An independent copy: whatever happens to it, this one stays as it is."""
        twin = copy.copy(self)
        for name in ("node_up", "free_milli", "node_free"):
            setattr(twin, name, getattr(self, name).copy())
        return twin
