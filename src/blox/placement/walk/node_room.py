"""NodePool: the free GPUs of each node. NodeRoom: where jobs find their place by a rule over nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Protocol

import numpy as np

from blox.placement.walk.gpu_types import allowed_nodes
from blox.placement.walk.requests import Requests
from blox.placement.walk.room import Share
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array


class NodePool:
    """Free GPUs per node, as plain lists: this is the inner loop of position-dependent placement.

    Nodes stand in heaps by their number of free GPUs, lowest id first. A heap may hold stale entries; one is
    valid when the node's count still says so.
    """

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
        """`count` GPUs of a node are taken; below 0: given back."""
        left = self.free[node] - count
        self.free[node] = left
        self.total -= count
        if left:  # a node without free GPUs is never looked for
            heappush(self.heaps[left], node)

    def best_fit(self, need: int) -> int:
        """The node with the fewest free GPUs that still has `need`, lowest id first; -1 if there is none."""
        free, heaps = self.free, self.heaps
        for count in range(need, self.top + 1):
            heap = heaps[count]
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


class NodeRule(Protocol):
    """How a placement policy picks nodes for one job."""

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        """(node, GPUs) pairs that add up to `need`, or None. It must not change the pool."""
        ...


RuleOfJob = Callable[[int], NodeRule]


class NodeRoom:
    """A pool of nodes, and the rule by which jobs pick some; GPU types restrict what a job sees."""

    def __init__(
        self,
        requests: Requests,
        cluster_state: ClusterState,
        job_state: JobState,
        rule: NodeRule | RuleOfJob,
        best_fit: bool,
    ) -> None:
        self._allowed = allowed_nodes(requests.schedule, cluster_state, job_state)
        self._rule = rule
        node_free = cluster_state.node_free
        if len(requests.unlisted):
            up = requests.holdings.held_by(requests.unlisted)
            nodes = cluster_state.gpu_node.take(up)
            node_free = node_free + np.bincount(nodes, minlength=cluster_state.nodes) * cluster_state.node_up
        self.pool = NodePool(node_free, cluster_state.node_gpus)
        self._alike = self._allowed is None and not callable(
            rule
        )  # where one job is refused, larger ones are
        self.best_fit = best_fit and self._alike
        self._refused = sys.maxsize  # jobs that need as much, on one node, are hopeless

    @property
    def total(self) -> int:
        return self.pool.total

    def choose(self, row: int, need: int) -> list[Share] | None:
        pool = self.pool
        if need > pool.total:
            return None
        if self.best_fit and need <= pool.top:
            node = pool.best_fit(need)
            return None if node < 0 else [(node, need)]
        if self._allowed is not None:
            pool = pool.restricted(self._allowed[row])
        rule = self._rule(row) if callable(self._rule) else self._rule
        return rule.choose(pool, need)

    def choose_after(self, row: int, need: int, given: list[Share]) -> list[Share] | None:
        if not self.best_fit or need > self.pool.top:
            return self.choose(row, need)
        free = self.pool.free
        fitting = [
            (free[node], node) for node, _ in given if free[node] >= need
        ]  # no other node fitted before
        return [(min(fitting)[1], need)] if fitting else None

    def fits(self, row: int, shares: list[Share]) -> bool:
        free = self.pool.free
        return all(free[node] >= count for node, count in shares)

    def take(self, row: int, shares: list[Share]) -> None:
        for node, count in shares:
            self.pool.take(node, count)

    def give(self, row: int, shares: list[Share]) -> None:
        for node, count in shares:
            self.pool.take(node, -count)

    def hopeless(self, need: int) -> bool:
        return self._refused <= need <= self.pool.top

    def refuse(self, need: int) -> None:
        if self._alike and need <= self.pool.top:
            self._refused = need
