"""FreeGpus: which GPUs are free: all ids, the lowest ones, and how many on each node.

Everything is derived from the owners when it is asked for. In a large cluster, what is known is corrected
after a change of few GPUs; otherwise it is derived again."""

from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np

from blox.workloads.table import Array

_SMALL = 32  # GPUs: smaller changes are corrected one GPU at a time
_LARGE = 1024  # GPUs: in a smaller cluster, deriving everything anew is cheaper than correcting


class FreeGpus:
    """`owner` is the row that holds each GPU (-1: none), owned and changed by Holdings."""

    def __init__(self, owner: Array, gpu_node: Array, node_first: Array, node_gpus: Array) -> None:
        self._owner, self._nodes = owner, (gpu_node, node_first, node_gpus)
        self._correctable = len(owner) > _LARGE
        self.closed: Array | None = None  # GPUs of nodes that are down; None: all nodes are up
        self.forget()

    def forget(self) -> None:
        """Drops what is known: the owners have changed."""
        self._ids: Array | None = None
        self._lowest: list[int] | None = None  # ids ascending, for `lowest()`
        self._node_free: Array | None = None
        self._nodes_with: list[int] | None = None  # number of nodes by their number of free GPUs
        self._idle = 0  # GPUs on nodes that are wholly free

    def close(self, node_up: Array) -> None:
        """GPUs of nodes that are down are not free."""
        self.closed = None if node_up.all() else ~node_up[self._nodes[0]]
        self.forget()

    def copy(self, owner: Array) -> FreeGpus:
        """The same for a copy of the owners."""
        twin = FreeGpus(owner, *self._nodes)
        twin.closed = self.closed
        return twin

    def changed(self, gpus: list[int] | Array, by: int) -> None:
        """These GPUs have been given back (by=1) or taken (by=-1)."""
        if not self._correctable or len(gpus) > _SMALL or self.closed is not None:
            self.forget()
            return
        ids = sorted(gpus if isinstance(gpus, list) else gpus.tolist())
        self._ids = None
        if self._lowest is not None:
            (_insert if by > 0 else _delete)(self._lowest, ids)
        if self._node_free is not None:
            self._count(ids, by)

    @property
    def mask(self) -> Array:
        """Which GPUs are free."""
        free: Array = self._owner < 0
        return free if self.closed is None else free & ~self.closed

    @property
    def ids(self) -> Array:
        """The ids of the free GPUs, ascending. Do not change it."""
        if self._ids is None:
            self._ids = self.mask.nonzero()[0]
        return self._ids

    def ids_with(self, released: Array) -> Array:
        """The same once these GPUs have been given back as well."""
        if not len(released):
            return self.ids
        free = self._owner < 0
        free[released] = True
        return (free if self.closed is None else free & ~self.closed).nonzero()[0]

    def lowest(self, count: int, released: Array) -> Array:
        """The `count` lowest ids, ascending, once these GPUs have been given back as well."""
        if self._lowest is None:
            if not self._correctable or count > _SMALL or self.closed is not None:
                return self.ids_with(released)[:count].copy()
            self._lowest = self.ids.tolist()
        lowest = self._lowest[:count]
        if len(released):
            lowest = sorted(lowest + released.tolist())[:count]
        return np.array(lowest, dtype=np.int64)

    @property
    def by_node(self) -> Array:
        """Free GPUs of each node. Do not change it."""
        if self._node_free is None:
            self._node_free = np.add.reduceat(self.mask.view(np.int8), self._nodes[1], dtype=np.int64)
        return self._node_free

    @property
    def largest(self) -> int:
        """The most free GPUs on one node."""
        nodes_with = self._survey()
        most = len(nodes_with) - 1
        while most and not nodes_with[most]:
            most -= 1
        return most

    @property
    def idle(self) -> int:
        """GPUs on nodes that are wholly free."""
        self._survey()
        return self._idle

    def _survey(self) -> list[int]:
        if self._nodes_with is None:
            node_free, node_gpus = self.by_node, self._nodes[2]
            self._nodes_with = np.bincount(node_free, minlength=int(node_gpus.max()) + 1).tolist()
            self._idle = int(node_free[node_free == node_gpus].sum())
        return self._nodes_with

    def _count(self, gpus: list[int], by: int) -> None:
        """Corrects the counts by node."""
        gpu_node, _, node_gpus = self._nodes
        node_free, nodes_with = self._node_free, self._nodes_with
        assert node_free is not None
        for gpu in gpus:
            node = gpu_node.item(gpu)
            free = node_free.item(node)
            node_free[node] = free + by
            if nodes_with is not None:
                nodes_with[free] -= 1
                nodes_with[free + by] += 1
                size = node_gpus.item(node)
                if free + by == size:
                    self._idle += size
                elif free == size:
                    self._idle -= size


def _insert(ids: list[int], more: list[int]) -> None:
    """Adds ascending ids to an ascending list."""
    first = bisect_left(ids, more[0])
    if first == len(ids) or more[-1] < ids[first]:  # all between two neighbours
        ids[first:first] = more
        return
    for gpu in more:
        insort(ids, gpu)


def _delete(ids: list[int], some: list[int]) -> None:
    """Removes ascending ids from an ascending list."""
    if ids[: len(some)] == some:  # the lowest ones, as most placements choose
        del ids[: len(some)]
        return
    for gpu in some:
        del ids[bisect_left(ids, gpu)]
