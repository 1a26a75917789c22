"""NodePool: how many GPUs are free on each node while a placement is being worked out.

Nodes stand in heaps by their number of free GPUs, lowest id first. A heap may hold stale entries; one is
valid when the node's count still says so.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from blox.workloads.table import Array

Share = tuple[int, int]  # (node, GPUs on it)


class NodePool:
    """Free GPUs per node, as plain lists: this is the inner loop of position-dependent placement."""

    def __init__(self, node_free: Array, node_gpus: Array) -> None:
        self.free: list[int] = node_free.tolist()
        self.total = int(node_free.sum())
        self.top = int(node_gpus.max())  # size of the largest node
        self._node_gpus = node_gpus
        by_free = np.argsort(node_free, kind="stable")
        edges = np.searchsorted(node_free[by_free], np.arange(self.top + 2))
        ids = by_free.tolist()
        self.heaps: list[list[int]] = [ids[edges[f] : edges[f + 1]] for f in range(self.top + 1)]

    def take(self, node: int, count: int) -> None:
        left = self.free[node] - count
        self.free[node] = left
        self.total -= count
        if left:  # nobody looks for a node without free GPUs
            heappush(self.heaps[left], node)

    def give(self, node: int, count: int) -> None:
        self.take(node, -count)

    def best_fit(self, need: int) -> int:
        """The node with the fewest free GPUs that still has `need`, lowest id first; -1 if there is none."""
        free = self.free
        for count in range(need, self.top + 1):
            heap = self.heaps[count]
            while heap:
                if free[heap[0]] == count:
                    return heap[0]
                heappop(heap)
        return -1

    def restricted(self, allowed: Array) -> NodePool:
        """The same pool as it looks to a job that may use some nodes only."""
        return NodePool(np.where(allowed, np.array(self.free), 0), np.where(allowed, self._node_gpus, 0))

    def fewest(self, need: int) -> int:
        """How many nodes `need` GPUs take when all are free; more than there are if they do not fit."""
        return int(np.searchsorted(np.cumsum(np.sort(self._node_gpus)[::-1]), need)) + 1
