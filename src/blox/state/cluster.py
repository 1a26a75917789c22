"""ClusterState: nodes and GPUs, what is free, which job holds what, and how the parts are connected.

GPU ids count up node by node, so the GPUs of a node are one contiguous range. A ClusterSpec describes the
hardware; this is its state during a run.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from blox.state.cluster_spec import ClusterSpec
from blox.state.holdings import Holdings
from blox.state.node_events import NodeEvent, NodeState
from blox.state.plan import NO_ROWS, Allocation
from blox.state.windows import Window
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.jobs import JobState

WHOLE = 1000  # thousandths of a GPU


class ClusterState:
    """Nodes (name, rack, GPUs, CPU cores, memory), GPUs (node, type), and which jobs hold which GPUs.

    `holdings` is the live record of what was commanded; `allocation` is an immutable snapshot of it. A GPU is
    free if no job holds any share of it and its node is up."""

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
        self.node_draining: Array = np.zeros(len(spec.nodes), dtype=bool)  # which only keep their jobs
        self.draining = False  # whether any node is draining
        self.gpu_node: Array = np.repeat(np.arange(len(spec.nodes)), self.node_gpus)
        self.gpu_type: Array = self.node_type[self.gpu_node]
        self.total_gpus: int = int(self.node_gpus.sum())  # of the nodes that are up
        self.one_pool = False  # whether the cluster is one pool: no job counts as spread
        self.windows: tuple[Window, ...] = ()  # times in which nodes are kept for some jobs, or for none
        # The node events after `job_state.now` that are known by then: drains with notice, ends of outages.
        self.node_events_ahead: Callable[[JobState], Sequence[NodeEvent]] = _none_known
        self.node_rule: Callable[[ClusterState, JobState], Any] | None = None  # how the placement picks nodes
        self.promised_until = -math.inf  # all parts promise to decide the same until then; set by the loop
        self.holdings = Holdings(self.gpu_node, self.node_gpus)

    @property
    def nodes(self) -> int:
        return len(self.node_gpus)

    @property
    def allocation(self) -> Allocation:
        """Which job holds which GPUs now. Immutable."""
        return self.holdings.allocation

    @property
    def running(self) -> Array:
        """The rows that hold GPUs, ascending. Do not change it."""
        return self.holdings.jobs

    @property
    def running_count(self) -> int:
        """Number of jobs that hold GPUs, known without listing them."""
        return self.holdings.size

    @property
    def owner(self) -> Array:
        """The row that holds each GPU (-1: none); of two jobs that share it, one. Do not change it."""
        return self.holdings.owner

    @property
    def free_gpus(self) -> int:
        """Number of wholly free GPUs."""
        return self.total_gpus - self.holdings.used + (self.draining_gpus if self.draining else 0)

    @property
    def draining_gpus(self) -> int:
        """Number of GPUs of draining nodes that jobs still hold."""
        return int((self.owner[self.node_draining[self.gpu_node]] >= 0).sum())

    @property
    def node_free(self) -> Array:
        """Number of wholly free GPUs by node."""
        return self.holdings.free.by_node.copy()

    @property
    def largest_free(self) -> int:
        """The largest number of wholly free GPUs on one node; in one pool, all of them."""
        return self.free_gpus if self.one_pool else self.holdings.free.largest

    def free_ids(self) -> Array:
        """Ids of the GPUs that are wholly free, ascending. Do not change it."""
        return self.holdings.free.ids_with(NO_ROWS)

    def is_free(self) -> Array:
        """Mask by GPU: no job holds it and its node is up."""
        return self.holdings.free.mask.copy()

    def set_node(self, node: int, state: NodeState) -> Array:
        """Changes the state of a node. Returns the jobs on it if it goes down: the caller must evict them."""
        if self.node_state(node) == state:
            return NO_ROWS
        self.node_up[node], self.node_draining[node] = state == "up", state == "draining"
        self.draining = bool(self.node_draining.any())
        self.holdings.free.close(self.node_up)
        self.promised_until = -math.inf
        self.total_gpus = int(self.node_gpus[self.node_up].sum())
        return self.jobs_on(np.array([node])) if state == "down" else NO_ROWS

    def node_state(self, node: int) -> NodeState:
        """The state of a node: it takes jobs (up), only keeps its jobs (draining), or is down."""
        return "up" if self.node_up[node] else "draining" if self.node_draining[node] else "down"

    def jobs_on(self, nodes: Array) -> Array:
        """The jobs that hold GPUs of these nodes, ascending."""
        owners = np.unique(self.owner[np.isin(self.gpu_node, nodes)])
        return self.allocation.sharing_with(owners[owners >= 0])

    def fragmentation(self) -> float:
        """Share of the free GPUs that are on partly used nodes.

        0 if every free GPU is on an idle node, or none is free; 0 in one pool."""
        free = self.free_gpus
        if not free or self.one_pool:
            return 0.0
        return (free - self.holdings.free.idle) / free

    def fork(self) -> ClusterState:
        """An independent copy: changes to it do not affect this state. It is bound by no promise."""
        twin = copy.copy(self)
        twin.promised_until = -math.inf
        twin.node_up, twin.node_draining = self.node_up.copy(), self.node_draining.copy()
        twin.holdings = self.holdings.copy()
        return twin


def _none_known(job_state: JobState) -> Sequence[NodeEvent]:
    """Nothing is announced."""
    return ()
