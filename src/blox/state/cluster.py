"""ClusterState: nodes and GPUs, what is free, who holds what, and how the parts are connected.

GPU ids count up node by node, so the GPUs of a node are one contiguous range. What a cluster looks like
is described by a ClusterSpec; this is that cluster at work.
"""

from __future__ import annotations

import copy
import math

import numpy as np

from blox.state.cluster_spec import ClusterSpec
from blox.state.ledger import Ledger
from blox.state.node_events import NodeState
from blox.state.plan import NO_ROWS, Allocation, Draft
from blox.state.roster import Roster
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
        self.node_storage_gbps: Array = np.array([node.storage_gbps for node in spec.nodes])
        self.node_rack: Array = np.array([node.rack for node in spec.nodes], dtype=np.int64)
        kinds = {name: index for index, name in enumerate(self.gpu_types)}
        self.node_type: Array = np.array([kinds[node.gpu_type] for node in spec.nodes], dtype=np.int64)
        self.node_up: Array = np.ones(len(spec.nodes), dtype=bool)  # which nodes take jobs
        self.node_draining: Array = np.zeros(len(spec.nodes), dtype=bool)  # these keep the jobs they have
        self.draining = False  # whether some node is
        self._some_down = False  # or draining
        self.gpu_node: Array = np.repeat(np.arange(len(spec.nodes)), self.node_gpus)
        self.gpu_type: Array = self.node_type[self.gpu_node]
        self.total_gpus: int = int(self.node_gpus.sum())  # of nodes that are up; of draining ones, the held
        self.one_pool = False  # nodes do not matter: being spread never counts
        self.promised_until = -math.inf  # until when all parts promise to decide as they did; set by the loop
        self.allocation = Allocation().with_ledger(self._ledger_of(Allocation()))

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
        return self.is_free() * WHOLE

    @property
    def node_free(self) -> Array:
        """Whole free GPUs per node."""
        free = self._ledger.node_free
        return np.where(self.node_up, free, 0) if self._some_down else free.copy()

    @property
    def largest_free(self) -> int:
        """The most wholly free GPUs on one node."""
        if self.one_pool:
            return self.free_gpus
        return int(self.node_free.max()) if self._some_down else self._ledger.largest_free

    def free_ids(self, draft: Draft | None = None) -> Array:
        """Ids of the GPUs that are wholly free, ascending; with a draft, once it has removed its jobs."""
        ids = self._ledger.free_ids if draft is None else draft.free_ids
        return ids[self.node_up[self.gpu_node[ids]]] if self._some_down else ids

    def lowest_free(self, count: int, draft: Draft | None = None) -> Array:
        """The lowest ids of GPUs that are wholly free; with a draft, once it has removed its jobs."""
        if self._some_down:
            return self.free_ids(draft)[:count]
        return self._ledger.lowest_free(count, NO_ROWS) if draft is None else draft.lowest_free(count)

    def is_free(self) -> Array:
        """Which GPUs nobody holds, on nodes that are up."""
        free: Array = self._ledger.owner < 0
        return free & self.node_up[self.gpu_node] if self._some_down else free

    def carry_out(self, wanted: Allocation) -> None:
        """Makes an allocation the present one."""
        if wanted.came_from(self.allocation):
            self.allocation = wanted.take_over()
        elif wanted is not self.allocation:
            self.allocation = wanted.with_ledger(self._ledger_of(wanted))
        if self.draining:
            self._count_gpus()

    def release(self, rows: Array, bound: int) -> None:
        """Jobs give up what they hold, outside of any plan; every row is below `bound`."""
        self.allocation = self.allocation.without(rows, bound)
        if self.draining:
            self._count_gpus()

    def set_node_up(self, node: int, up: bool) -> Array:
        """A node comes or goes. Returns the jobs on a node that goes: the caller must take them off."""
        return self.set_node(node, "up" if up else "down")

    def set_node(self, node: int, state: NodeState) -> Array:
        """A node changes its state. Returns the jobs on it if it goes down: the caller must take them off."""
        if self.node_state(node) == state:
            return NO_ROWS
        self.node_up[node], self.node_draining[node] = state == "up", state == "draining"
        self._some_down, self.draining = not self.node_up.all(), bool(self.node_draining.any())
        self.promised_until = -math.inf
        self._count_gpus()
        return self.jobs_on(np.array([node])) if state == "down" else NO_ROWS

    def node_state(self, node: int) -> NodeState:
        """Whether a node takes jobs, keeps those it has, or is down."""
        return "up" if self.node_up[node] else "draining" if self.node_draining[node] else "down"

    def jobs_on(self, nodes: Array) -> Array:
        """The jobs that hold GPUs of these nodes, ascending."""
        owners = np.unique(self._ledger.owner[np.isin(self.gpu_node, nodes)])
        return self.allocation.beside(owners[owners >= 0])

    def _count_gpus(self) -> None:
        """What a draining node has left to give is what its jobs hold."""
        held = self._ledger.owner >= 0
        usable = self.node_up[self.gpu_node] | (held & self.node_draining[self.gpu_node])
        self.total_gpus = int(usable.sum())

    def is_consolidated(self, allocation: Allocation) -> Array:
        """Which jobs stand on as few nodes as their GPU count takes when the largest nodes are free."""
        if self.one_pool:
            return np.ones(allocation.size, dtype=bool)
        nodes = self.gpu_node[allocation.gpus]
        owner = np.repeat(np.arange(allocation.size), allocation.counts)
        pairs = np.unique(owner * self.nodes + nodes) // self.nodes
        spans = np.bincount(pairs, minlength=allocation.size)
        fewest = np.searchsorted(np.cumsum(np.sort(self.node_gpus)[::-1]), allocation.counts) + 1
        return np.asarray(spans <= fewest)

    def fragmentation(self) -> float:
        """Share of the free GPUs that are on partly used nodes; 0 when whole nodes are free, or nothing."""
        free = self.free_gpus
        if not free or self.one_pool:
            return 0.0
        if self._some_down:
            node_free = self.node_free
            return float(node_free[node_free < self.node_gpus].sum()) / free
        return (free - self._ledger.idle_gpus) / free

    def fork(self) -> ClusterState:
        """An independent copy: whatever happens to it, this one stays as it is."""
        twin = copy.copy(self)
        twin.node_up, twin.node_draining = self.node_up.copy(), self.node_draining.copy()
        twin.allocation = self.allocation.with_ledger(self._ledger.copy())
        return twin

    @property
    def _ledger(self) -> Ledger:
        ledger = self.allocation.ledger
        assert ledger is not None
        return ledger

    def _ledger_of(self, allocation: Allocation) -> Ledger:
        owner = np.full(len(self.gpu_node), -1, dtype=np.int64)
        owner[allocation.gpus] = np.repeat(allocation.jobs, allocation.counts)
        return Ledger(owner, Roster(allocation.jobs), self.gpu_node, self.node_first, self.node_gpus)
