"""Ledger: who holds each GPU, and which are free, kept up to date in place as plans are carried out.

A cluster has one, and it belongs to the allocation that holds now: when the next one is carried out, the
ledger is changed and handed on. What follows from it (free GPU ids, free GPUs by node) is worked out when
somebody asks; in a large cluster it is kept up to date from then on, as long as changes are small.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import neg

import numpy as np

from blox.state.columns import SCALAR_MAX, scalar_view
from blox.state.roster import Roster
from blox.workloads.table import Array

_SMALL = 32  # GPUs: smaller changes are followed one by one, larger ones make us look again
_LARGE = 1024  # GPUs: in a smaller cluster most of it is quicker looked at again in any case
_LONG = 1 << 15  # entries: a longer diary is not worth its memory
_NOBODY = np.array(0)  # owners below are nobody; as an array, numpy need not make one at every comparison


class Ledger:
    """`owner` is the row that holds each GPU (-1: nobody); GPU ids count up node by node."""

    __slots__ = (
        "_by_free",
        "_diary",
        "_free_ids",
        "_free_list",
        "_gpus_of",
        "_idle",
        "_large",
        "_looked",
        "_node_free",
        "_nodes",
        "_owner",
        "_owner_of",
        "_roster",
    )

    def __init__(
        self, owner: Array, roster: Roster, gpu_node: Array, node_first: Array, node_gpus: Array
    ) -> None:
        self._owner, self._owner_of, self._roster = owner, scalar_view(owner), roster
        self._nodes = (gpu_node, node_first, node_gpus)
        self._large = len(owner) > _LARGE
        self._gpus_of: dict[int, list[int]] = {}  # of jobs that came one at a time; the others are looked up
        self._diary: list[tuple[int, list[int], bool]] = []  # who came or left one at a time, to be entered
        self._free_list: list[int] | None = None  # free GPU ids, for those who want the lowest; see _put_in
        self._looked = False  # whether anything of what follows is known
        self._free_ids: Array | None = None
        self._node_free: Array | None = None
        self._by_free: list[int] | None = None  # how many nodes have so many free GPUs
        self._idle = 0  # GPUs on nodes that are wholly free

    def copy(self) -> Ledger:
        """An independent copy."""
        twin = Ledger(self.owner.copy(), self._roster.copy(), *self._nodes)
        twin._gpus_of = self._gpus_of.copy()
        return twin

    def __deepcopy__(self, seen: object) -> Ledger:
        return self.copy()

    @property
    def owner(self) -> Array:
        """The row that holds each GPU; -1: nobody. Do not change it."""
        if self._diary:
            self._enter()
        return self._owner

    @property
    def jobs(self) -> Array:
        """The rows that hold GPUs, in the order in which they got them. Do not change it."""
        if self._diary:
            self._enter()
        return self._roster.rows

    def gpus_of(self, row: int) -> Array:
        """The GPU ids that a row holds, ascending."""
        known = self._gpus_of.get(row)
        return (self.owner == row).nonzero()[0] if known is None else np.array(known, dtype=np.int64)

    def held_by(self, rows: Array, bound: int) -> Array:
        """The GPU ids that these rows hold, ascending; every row is below `bound`."""
        if len(rows) == 1:
            return self.gpus_of(rows.item())
        if len(rows) <= SCALAR_MAX and all(map(self._gpus_of.__contains__, few := rows.tolist())):
            return np.array(sorted([gpu for row in few for gpu in self._gpus_of[row]]), dtype=np.int64)
        marked = np.zeros(bound + 1, dtype=bool)  # the last one is for GPUs that nobody owns
        marked[rows] = True
        return marked.take(self.owner).nonzero()[0]

    def release(self, rows: Array, gpus: Array) -> None:
        """These rows give back all that they hold, which are these GPUs."""
        if len(rows) <= SCALAR_MAX:
            for row in rows.tolist():
                self.release_one(row)
            return
        self.owner[gpus] = -1
        self._roster.leave(rows)
        for row in rows.tolist() if self._gpus_of else ():
            self._gpus_of.pop(row, None)
        self._follow_all(gpus, 1)

    def release_one(self, row: int) -> int:
        """A row gives back all that it holds. Returns how many GPUs that is."""
        gpus = self._gpus_of.pop(row, None)
        if gpus is None:
            gpus = (self.owner == row).nonzero()[0].tolist()
        self._diary.append((row, gpus, False))
        if len(self._diary) > _LONG:
            self._enter()
        if not gpus:  # somebody who shares with it holds them
            return 0
        if self._free_list is not None:
            _put_in(self._free_list, gpus)
        if self._looked:
            self._follow(gpus, 1)
        return len(gpus)

    def occupy(self, rows: Array, counts: Array, gpus: Array) -> None:
        """These rows take free GPUs, grouped row by row."""
        if len(rows) <= SCALAR_MAX:
            ids, end = gpus.tolist(), 0
            for row, count in zip(rows.tolist(), counts.tolist()):
                end += count
                self.occupy_one(row, ids[end - count : end])
            return
        self.owner[gpus] = rows if len(gpus) == len(rows) else np.repeat(rows, counts)
        self._roster.join(rows)
        self._follow_all(gpus, -1)

    def occupy_one(self, row: int, gpus: list[int]) -> None:
        """A row takes free GPUs."""
        gpus.sort()
        self._gpus_of[row] = gpus
        self._diary.append((row, gpus, True))
        if self._free_list is not None:
            _take_out(self._free_list, gpus)
        if self._looked:
            self._follow(gpus, -1)

    def _enter(self) -> None:
        """Enters those who came or left one at a time; who did both need not be entered at all."""
        owner, roster = self._owner_of, self._roster
        came: dict[int, list[int]] = {}
        for row, gpus, comes in self._diary:
            if comes:
                came[row] = gpus
            elif came.pop(row, None) is None:
                roster.leave_one(row)
                for gpu in gpus:
                    owner[gpu] = -1
        for row, gpus in came.items():
            roster.join_one(row)
            for gpu in gpus:
                owner[gpu] = row
        self._diary.clear()

    def look_again(self) -> None:
        """More has changed than can be followed, or the owners were changed from outside."""
        self._free_list = self._free_ids = self._node_free = self._by_free = None
        self._looked = False

    def _follow_all(self, gpus: Array, by: int) -> None:
        """GPUs of many jobs have become free (1) or are taken (-1)."""
        if len(gpus) > _SMALL:
            self.look_again()
            return
        ids = sorted(gpus.tolist())
        if self._free_list is not None:
            (_put_in if by > 0 else _take_out)(self._free_list, ids)
        if self._looked:
            self._follow(ids, by)

    def _follow(self, gpus: list[int], by: int) -> None:
        """These GPUs have become free (1) or are taken (-1)."""
        if not self._large or len(gpus) > _SMALL:
            self._free_ids = self._node_free = self._by_free = None
            self._looked = False
            return
        if self._free_ids is not None:
            self._free_ids = (_merged if by > 0 else _without)(self._free_ids, np.array(gpus))
        if self._node_free is not None:
            self._shift(gpus, by)

    @property
    def free_ids(self) -> Array:
        """The ids of the GPUs that nobody holds, ascending. Do not change it."""
        if self._free_ids is None:
            self._free_ids = (self.owner < _NOBODY).nonzero()[0]
            self._looked = True
        return self._free_ids

    def lowest_free(self, count: int, released: Array) -> Array:
        """The lowest so many of them, ascending, once these GPUs have been given back as well."""
        if self._free_list is None:
            if count > _SMALL:
                return self.free_ids_after(released)[:count].copy()
            self._free_list = np.negative(self.free_ids[::-1]).tolist()
            self._free_ids, self._looked = None, self._node_free is not None
        lowest = [*map(neg, self._free_list[: -count - 1 : -1])]
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
            self._looked = True
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

    def _shift(self, gpus: list[int], by: int) -> None:
        """So many more are free on the nodes of these GPUs, one for each."""
        gpu_node, _, node_gpus = self._nodes
        node_free, by_free = self._node_free, self._by_free
        assert node_free is not None
        for gpu in gpus:
            node = gpu_node.item(gpu)
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


def _put_in(ids: list[int], more: list[int]) -> None:
    """Adds ascending ids to a list of free ones.

    In such a list ids are negative, and so stand in falling order: the lowest, of which most is given and
    taken, at the end, where others need not move for it.
    """
    if len(more) == 1:
        insort(ids, -more[0])
        return
    more = [*map(neg, reversed(more))]
    first = bisect_left(ids, more[0])
    if first == len(ids) or more[-1] < ids[first]:  # all between two neighbours
        ids[first:first] = more
        return
    for gpu in more:
        insort(ids, gpu)


def _take_out(ids: list[int], some: list[int]) -> None:
    """Takes ascending ids out of a list of free ones."""
    if len(some) == 1:
        del ids[bisect_left(ids, -some[0])]
        return
    some = [*map(neg, reversed(some))]
    if ids[-len(some) :] == some:  # the lowest ones, as most placements choose
        del ids[-len(some) :]
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
