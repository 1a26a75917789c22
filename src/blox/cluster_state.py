"""ClusterState: nodes and GPUs, what is free, who holds what, and how the parts are connected.

GPU ids count up node by node, so the GPUs of a node are one contiguous range. What a cluster looks like
is described by a ClusterSpec; this is that cluster at work.
"""

from __future__ import annotations

import copy

import numpy as np

from blox.cluster_spec import ClusterSpec
from blox.plan import NO_ROWS, Allocation, Draft
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
        self.total_gpus: int = int(self.node_gpus.sum())  # of the nodes that are up
        self.one_pool = False  # nodes do not matter: being spread never counts
        self._node_free: tuple[object, Array] | None = None
        self.allocation = Allocation.nothing_of(len(self.gpu_node))

    @property
    def nodes(self) -> int:
        return len(self.node_gpus)

    @property
    def free_gpus(self) -> int:
        """How many GPUs are wholly free."""
        return self.total_gpus - self.allocation.used

    @property
    def free_milli(self) -> Array:
        """Thousandths of each GPU that are free; 0 where the node is down."""
        return self.is_free(self.allocation) * WHOLE

    @property
    def node_free(self) -> Array:
        """Whole free GPUs per node."""
        known = self._node_free
        if known is None or known[0] is not self.allocation:
            free = self.is_free(self.allocation).view(np.int8)
            known = self._node_free = (
                self.allocation,
                np.add.reduceat(free, self.node_first, dtype=np.int64),
            )
        return known[1]

    def free_ids(self) -> Array:
        """Ids of the GPUs that are wholly free, ascending."""
        return self.is_free(self.allocation).nonzero()[0]

    def is_free(self, holding: Allocation | Draft) -> Array:
        """Which GPUs nobody would hold under an allocation, on nodes that are up."""
        assert holding.owner is not None
        free: Array = holding.owner < 0
        return free & self.node_up[self.gpu_node] if self._some_down else free

    def carry_out(self, wanted: Allocation) -> None:
        """Makes an allocation the present one."""
        if wanted.owner is None:
            wanted = wanted.owned(len(self.gpu_node))
        self.allocation = wanted.forget()

    def set_node_up(self, node: int, up: bool) -> Array:
        """A node comes or goes. Returns the jobs that stand on it: the caller must take them off."""
        if bool(self.node_up[node]) == up:
            return NO_ROWS
        self.node_up[node] = up
        self._some_down = not self.node_up.all()
        self._node_free = None
        first, count = int(self.node_first[node]), int(self.node_gpus[node])
        self.total_gpus += count if up else -count
        assert self.allocation.owner is not None
        owners = np.unique(self.allocation.owner[first : first + count])
        return owners[owners >= 0]

    def is_consolidated(self, allocation: Allocation) -> Array:
        """Which jobs stand on as few nodes as their GPU count takes when the largest nodes are free."""
        if self.one_pool:
            return np.ones(len(allocation.jobs), dtype=bool)
        nodes = self.gpu_node[allocation.gpus]
        owner = np.repeat(np.arange(len(allocation.jobs)), allocation.counts)
        pairs = np.unique(owner * self.nodes + nodes) // self.nodes
        spans = np.bincount(pairs, minlength=len(allocation.jobs))
        fewest = np.searchsorted(np.cumsum(np.sort(self.node_gpus)[::-1]), allocation.counts) + 1
        return np.asarray(spans <= fewest)

    def fragmentation(self) -> float:
        """Share of the free GPUs that are on partly used nodes; 0 when whole nodes are free, or nothing."""
        if not self.free_gpus:
            return 0.0
        partly = self.node_free[self.node_free < self.node_gpus].sum()
        return float(partly) / self.free_gpus

    def fork(self) -> ClusterState:
        """An independent copy: whatever happens to it, this one stays as it is."""
        twin = copy.copy(self)
        twin.node_up = self.node_up.copy()
        return twin
