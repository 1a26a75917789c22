"""NodePool: how many GPUs are free on each node while a placement is being worked out.

Nodes stand in buckets by their number of free GPUs. A bucket may hold stale entries; one is valid when
the node's count still says so. Ties go to the node touched last, then to the lowest id.
"""

from __future__ import annotations

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
        by_free = np.argsort(-node_free, kind="stable")[::-1]
        edges = np.searchsorted(node_free[by_free], np.arange(self.top + 2))
        ids = by_free.tolist()
        self.buckets: list[list[int]] = [ids[edges[f] : edges[f + 1]] for f in range(self.top + 1)]

    def take(self, node: int, count: int) -> None:
        left = self.free[node] - count
        self.free[node] = left
        self.total -= count
        self.buckets[left].append(node)

    def give(self, node: int, count: int) -> None:
        self.take(node, -count)

    def best_fit(self, need: int) -> int:
        """The node with the fewest free GPUs that still has `need`; -1 if there is none."""
        free, buckets = self.free, self.buckets
        for count in range(need, self.top + 1):
            bucket = buckets[count]
            while bucket:
                if free[bucket[-1]] == count:
                    return bucket[-1]
                bucket.pop()
        return -1

    def fill(
        self, queue: list[int], needs: list[int], start: int, below: int, stop_at: bytearray
    ) -> tuple[list[int], list[int], int]:
        """Takes the best fit for one job of the queue after another: (indices, their nodes, the next index).

        Begins at `start`, passes over jobs that need `below` or more of one node, and ends before the first
        job that does not fit on a node or is marked in `stop_at`.
        """
        free, buckets, sizes = self.free, self.buckets, self.top + 1
        indices: list[int] = []
        nodes: list[int] = []
        for index in range(start, len(queue)):
            count = need = needs[index]
            if stop_at[queue[index]]:
                break
            if below <= need < sizes:
                continue
            while count < sizes:
                bucket = buckets[count]
                while bucket:
                    node = bucket.pop()
                    if free[node] == count:
                        break
                else:
                    count += 1
                    continue
                break
            else:
                break
            if count > need:
                free[node] = left = count - need
                buckets[left].append(node)
            else:
                free[node] = 0
            indices.append(index)
            nodes.append(node)
        else:
            index = len(queue)
        self.total -= sum([needs[i] for i in indices])
        return indices, nodes, index

    def restricted(self, allowed: Array) -> NodePool:
        """The same pool as it looks to a job that may use some nodes only."""
        return NodePool(np.where(allowed, np.array(self.free), 0), np.where(allowed, self._node_gpus, 0))

    def fewest(self, need: int) -> int:
        """How many nodes `need` GPUs take when all are free; more than there are if they do not fit."""
        return int(np.searchsorted(np.cumsum(np.sort(self._node_gpus)[::-1]), need)) + 1
