"""The walk where it matters which GPUs are free. It defines the contract of placement.

Jobs are visited in schedule order. A running job stays. A waiting job takes the free GPUs that the rule
picks. If the rule finds none and the schedule may preempt, running jobs later in the order are released, last
first, until it does; if it never does, they are put back. A released job that is reached later returns to its
GPUs if they are still free; otherwise it is treated as waiting. A job that finds no place is passed over, or
ends the walk if the schedule is strict. A room counts free GPUs by unit: usually a node, whose lowest free
GPU ids are taken first, or a single GPU.

Two limits that a room may declare, `alike` and `whole`, spare it questions whose answers are known. Both are
0 by default: the room is then asked about every waiting job, and nothing else distinguishes the walks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from blox import Allocation, Plan
from blox.placement.walk.requests import Requests
from blox.placement.walk.room import Room, Share, Shares
from blox.workloads.table import Array

Waiting = tuple[int, int, int]  # row, GPUs needed, place in line
Victim = tuple[int, int, int, int]  # row, GPUs held, place in line, its unit (-1: several)
NO_MORE: Waiting = (-1, 0, sys.maxsize)
_CHUNK = 256  # jobs in the first chunk that is converted to plain numbers: most walks end early


class Walk:
    """One walk through a schedule; the room knows what is free and where a job fits."""

    def __init__(self, requests: Requests, unit_of: Array, room: Room, *, undo: bool = True) -> None:
        """`unit_of`: by GPU id, the unit (such as the node) by which the room counts free GPUs; ascending."""
        self._requests, self._unit_of, self._room, self._undo = requests, unit_of, room, undo
        waits = requests.pending[requests.schedule.order]
        self._waits = waits.nonzero()[0]  # places in line
        self._victims = Victims(requests, (~waits).nonzero()[0][::-1], unit_of)
        # Released jobs that the walk has not reached, as a stack: jobs are released from the end of the
        # order, so the last released is reached first.
        self._returning: list[Victim] = []
        self._returned: set[int] = set()  # rows of victims that returned to their GPUs
        # New placements in order: row, unit, GPUs; a job has three entries for each of its units.
        self._placed: list[int] = []

    def run(self) -> Plan:
        """Visits the jobs in order: each is placed, passed over, or ends the walk."""
        room, victims, returning, placed = self._room, self._victims, self._returning, self._placed
        strict, preempt = self._requests.schedule.strict, self._requests.schedule.preempt
        take, take_back, choose, alike, undo = room.take, room.take_back, room.choose, room.alike, self._undo
        refused, blocked = sys.maxsize, False
        queue = self._queue(-1, refused)
        upcoming = next(queue, NO_MORE)
        while returning or upcoming is not NO_MORE:
            if returning and returning[-1][2] < upcoming[2]:
                row, need, place, unit = returning.pop()
                if undo and take_back(row, ((unit, need),) if unit >= 0 else victims.spread(row)):
                    self._returned.add(row)
                    continue
                if refused <= need <= alike:
                    continue
            else:
                row, need, place = upcoming
                upcoming = next(queue, NO_MORE)
            shares = choose(row, need) if need <= room.total else None
            if shares is None and preempt:
                shares = self._displace(row, need, place)
            if shares is not None:
                for unit, count in shares:
                    take(row, unit, count)
                    placed += (row, unit, count)
            elif strict:
                blocked = True
                break
            elif not room.total and not (preempt and victims.any_behind(place)):
                break
            elif need <= alike:
                refused = need
                queue = self._queue(place, refused)
                upcoming = next(queue, NO_MORE)
        return self._plan(blocked)

    def _queue(self, place: int, refused: int) -> Iterator[Waiting]:
        """The waiting jobs after `place` that `refused` does not rule out, in order."""
        requests, alike = self._requests, self._room.alike

        def chunks() -> Iterator[Iterable[Waiting]]:
            behind = self._waits[self._waits.searchsorted(place, side="right") :]
            for rows, need, places in _in_line(requests, requests.need, behind):
                asked = (need < refused) | (need > alike)
                yield zip(rows[asked].tolist(), need[asked].tolist(), places[asked].tolist())

        return chain.from_iterable(chunks())

    def _displace(self, row: int, need: int, place: int) -> list[Share] | None:
        """Releases running jobs after `place`, last first, until the job fits; undone if it never does."""
        room, victims, shares = self._room, self._victims, None
        take, listed, last = room.take, victims.listed, victims.off
        while shares is None and (last < len(listed) or victims.reach()):
            victim, held, its_place, unit = listed[last]
            if its_place < place:
                break
            last += 1
            if unit >= 0:
                take(victim, unit, -held)
            else:
                for each, count in victims.spread(victim):
                    take(victim, each, -count)
            if need > room.whole or unit < 0:
                shares = room.choose(row, need) if need <= room.total else None
            elif room.free[unit] >= need:  # no other unit had enough before: only this one can have
                shares = [(unit, need)]
        released = listed[victims.off : last]
        if shares is not None or not self._undo:
            self._returning += released
            victims.off = last
        else:
            for victim, held, _, unit in released:
                for each, count in ((unit, held),) if unit >= 0 else victims.spread(victim):
                    take(victim, each, count)
        return shares

    def _plan(self, blocked: bool) -> Plan:
        off = self._victims.listed[: self._victims.off]
        leaving = np.array([victim[0] for victim in off if victim[0] not in self._returned], dtype=np.int64)
        if not self._placed:
            return self._requests.unplaced(leaving)
        holdings, gone = self._requests.holdings, self._requests.gone(leaving)
        freed = holdings.held_by(gone)
        rows, units, counts = np.array(self._placed, dtype=np.int64).reshape(-1, 3).T
        gpus = _lowest_ids(self._unit_of, holdings.free.ids_with(freed), units, counts)
        starts = np.concatenate(([True], rows[1:] != rows[:-1])).nonzero()[0]
        placed = Allocation(rows[starts], np.add.reduceat(counts, starts), gpus)
        return Plan.of(gone, freed, placed, blocked=blocked, settled=self._undo)


class Victims:
    """Running jobs in the order in which they may be released: last in line first.

    `listed` is the part that has been read so far, with what each held when the walk began. The first `off`
    have been released.
    """

    def __init__(self, requests: Requests, places: Array, unit_of: Array) -> None:
        self._holdings, self._unit_of = requests.holdings, unit_of
        self._more = _in_line(requests, requests.held, places)
        self._unit: Array | None = None  # by row: the unit of its GPUs (-1: several)
        self._spread: dict[int, Shares] = {}
        self.listed: list[Victim] = []
        self.off = 0

    def any_behind(self, place: int) -> bool:
        """Whether a job after `place` can still be released."""
        return (self.off < len(self.listed) or self.reach()) and self.listed[self.off][2] > place

    def reach(self) -> bool:
        """Lists more victims; False: all are listed."""
        more = next(self._more, None)
        if more is None:
            return False
        if self._unit is None:
            owner, unit_of = self._holdings.owner, self._unit_of
            self._unit = np.empty(self._holdings.row_bound + 1, dtype=np.int64)  # the last: no owner
            self._unit[owner] = unit_of
            self._unit[owner[self._unit[owner] != unit_of]] = -1
        units = self._unit[more[0]]
        self.listed += zip(*(each.tolist() for each in (*more, units)))
        return True

    def spread(self, row: int) -> Shares:
        """The shares of a job on several units when the walk began."""
        if row not in self._spread:
            units, counts = np.unique(self._unit_of[self._holdings.gpus_of(row)], return_counts=True)
            self._spread[row] = tuple(zip(units.tolist(), counts.tolist()))
        return self._spread[row]


def _in_line(requests: Requests, gpus: Array, places: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Rows, GPUs and places of the jobs at `places` in line, in growing chunks."""
    size = _CHUNK
    while len(places):
        here, places = places[:size], places[size:]
        positions = requests.schedule.order[here]
        yield requests.schedule.jobs[positions], gpus[positions], here
        size *= 2


def _lowest_ids(unit_of: Array, free_ids: Array, units: Array, counts: Array) -> Array:
    """The GPU ids of each placement, in the order of the walk: the lowest free ones of its unit."""
    size = int(unit_of.max()) + 1
    by_unit = np.argsort(units, kind="stable")
    in_order = counts[by_unit]
    free = np.bincount(unit_of[free_ids], minlength=size)
    kept = free - np.bincount(units, weights=counts, minlength=size).astype(np.int64)
    first = np.empty(len(units), dtype=np.int64)  # of each placement: its first position in `free_ids`
    first[by_unit] = in_order.cumsum() - in_order
    first += (kept.cumsum() - kept)[units]
    first -= counts.cumsum() - counts
    return free_ids.take(np.repeat(first, counts) + np.arange(int(counts.sum())))
