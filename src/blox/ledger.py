"""Ledger: who holds each GPU, and which are free, kept up to date in place as plans are carried out.

A cluster has one, and it belongs to the allocation that holds now: when the next one is carried out, the
ledger is changed and handed on. What follows from it (free GPU ids, free GPUs by node) is worked out when
somebody asks; in a large cluster it is kept up to date from then on, as long as changes are small.
"""

from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np

from blox.roster import Roster
from blox.workloads.table import Array

_FEW = 32  # GPUs: smaller changes are followed one by one, larger ones make us look again
_LARGE = 1024  # GPUs: in a smaller cluster looking again is quicker
_NOBODY = np.array(0)  # owners below are nobody; as an array, numpy need not make one at every comparison


class Ledger:
    """`owner` is the row that holds each GPU (-1: nobody); GPU ids count up node by node."""

    __slots__ = (
        "_by_free",
        "_few",
        "_free_ids",
        "_free_list",
        "_gpus_of",
        "_idle",
        "_node_free",
        "_nodes",
        "_roster",
        "owner",
    )

    def __init__(
        self, owner: Array, roster: Roster, gpu_node: Array, node_first: Array, node_gpus: Array
    ) -> None:
        self.owner, self._roster = owner, roster
        self._nodes = (gpu_node, node_first, node_gpus)
        self._few = _FEW if len(owner) > _LARGE else 0
        self._gpus_of: dict[int, Array] = {}  # of jobs that came one at a time; the others are looked up
        self._free_ids: Array | None = None
        self._free_list: list[int] | None = None  # the same, for those who only want the lowest
        self._node_free: Array | None = None
        self._by_free: list[int] | None = None  # how many nodes have so many free GPUs
        self._idle = 0  # GPUs on nodes that are wholly free

    def copy(self) -> Ledger:
        """An independent copy."""
        twin = Ledger(self.owner.copy(), self._roster.copy(), *self._nodes)
        twin._gpus_of = self._gpus_of.copy()
        return twin

    @property
    def jobs(self) -> Array:
        """The rows that hold GPUs, in the order in which they got them. Do not change it."""
        return self._roster.rows

    def gpus_of(self, row: int) -> Array:
        """The GPU ids that a row holds, ascending."""
        known = self._gpus_of.get(row)
        return (self.owner == row).nonzero()[0] if known is None else known

    def release(self, rows: Array, gpus: Array) -> None:
        """These rows give these GPUs, all that they hold, back."""
        self.owner[gpus] = -1
        self._roster.leave(rows)
        if self._gpus_of:
            for row in rows.tolist():
                self._gpus_of.pop(row, None)
        if len(gpus) > self._few:
            self._free_ids = self._free_list = self._node_free = self._by_free = None
            return
        if self._free_list is not None:
            for gpu in gpus.tolist():
                insort(self._free_list, gpu)
        if self._free_ids is not None:
            self._free_ids = _merged(self._free_ids, gpus)
        if self._node_free is not None:
            self._shift(gpus, 1)

    def occupy(self, rows: Array, counts: Array, gpus: Array) -> None:
        """These rows take free GPUs, grouped row by row."""
        self._roster.join(rows)
        if len(rows) == 1:
            row = rows.item()
            self.owner[gpus] = row
            if len(gpus) > 1:
                gpus = gpus.copy()
                gpus.sort()
            self._gpus_of[row] = gpus
        else:
            self.owner[gpus] = rows if len(gpus) == len(rows) else np.repeat(rows, counts)
        if len(gpus) > self._few:
            self._free_ids = self._free_list = self._node_free = self._by_free = None
            return
        if self._free_list is not None:
            _take_out(self._free_list, gpus.tolist())
        if self._free_ids is not None:
            self._free_ids = _without(self._free_ids, gpus)
        if self._node_free is not None:
            self._shift(gpus, -1)

    @property
    def free_ids(self) -> Array:
        """The ids of the GPUs that nobody holds, ascending. Do not change it."""
        if self._free_ids is None:
            self._free_ids = (self.owner < _NOBODY).nonzero()[0]
        return self._free_ids

    def lowest_free(self, count: int, released: Array) -> Array:
        """The lowest so many of them, ascending, once these GPUs have been given back as well."""
        if count > self._few:
            return self.free_ids_after(released)[:count]
        if self._free_list is None:
            self._free_list = self.free_ids.tolist()
            self._free_ids = None
        lowest = self._free_list[:count]
        if len(released):
            lowest = sorted(lowest + released.tolist())[:count]
        return np.array(lowest, dtype=np.int64)

    def free_ids_after(self, released: Array) -> Array:
        """The same once these GPUs have been given back as well."""
        return _merged(self.free_ids, released) if len(released) else self.free_ids

    @property
    def node_free(self) -> Array:
        """Free GPUs by node. Do not change it."""
        if self._node_free is None:
            free = (self.owner < 0).view(np.int8)
            self._node_free = np.add.reduceat(free, self._nodes[1], dtype=np.int64)
        return self._node_free

    @property
    def largest_free(self) -> int:
        """The most free GPUs on one node."""
        by_free = self._survey()
        most = len(by_free) - 1
        while most and not by_free[most]:
            most -= 1
        return most

    @property
    def idle_gpus(self) -> int:
        """GPUs on nodes that are wholly free."""
        self._survey()
        return self._idle

    def _survey(self) -> list[int]:
        if self._by_free is None:
            node_free, node_gpus = self.node_free, self._nodes[2]
            self._by_free = np.bincount(node_free, minlength=int(node_gpus.max()) + 1).tolist()
            self._idle = int(node_free[node_free == node_gpus].sum())
        return self._by_free

    def _shift(self, gpus: Array, by: int) -> None:
        """So many more are free on the nodes of these GPUs, one for each."""
        gpu_node, _, node_gpus = self._nodes
        node_free, by_free = self._node_free, self._by_free
        assert node_free is not None
        for node in gpu_node.take(gpus).tolist():
            free = node_free.item(node)
            node_free[node] = free + by
            if by_free is not None:
                by_free[free] -= 1
                by_free[free + by] += 1
                size = node_gpus.item(node)
                if free + by == size:
                    self._idle += size
                elif free == size:
                    self._idle -= size


def _merged(ids: Array, more: Array) -> Array:
    """Two ascending lists of ids as one."""
    if not len(ids):
        return more
    where = ids.searchsorted(more)
    first = where.item(0)
    if first == where.item(len(more) - 1):  # all between two neighbours
        return np.concatenate((ids[:first], more, ids[first:]))
    both = np.concatenate((ids, more))
    both.sort(kind="stable")
    return both


def _take_out(ids: list[int], some: list[int]) -> None:
    """Takes some out of ascending ids, given in any order."""
    if ids[: len(some)] == some:  # the lowest ones, as most placements choose
        del ids[: len(some)]
        return
    for gpu in some:
        del ids[bisect_left(ids, gpu)]


def _without(ids: Array, some: Array) -> Array:
    """Ascending ids without some of them, given in any order."""
    count = len(some)
    if ids[:count].tolist() == some.tolist():
        return ids[count:]  # the lowest ones, as most placements choose
    keep = np.ones(len(ids), dtype=bool)
    keep[ids.searchsorted(some)] = False
    return ids[keep]
