"""The walk where it matters which GPUs are free. It defines the contract of placement.

In order: a running job stays; another takes free GPUs where the rule finds them; if it finds none and the
schedule may preempt, jobs are released from the end of the order, only ones behind it, until the rule is
satisfied, and put back if it never is. A released job that is reached later stays where it was if that is
still free. A job that finds no place is passed over, or ends the walk if the schedule is strict. A room
knows counts of free GPUs by unit: by node as a rule, whose GPU ids are handed out lowest first, or by GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from blox.placement.walk.requests import Requests
from blox.placement.walk.room import Room, Share
from blox.state.plan import Plan
from blox.workloads.table import Array

Pending = tuple[int, int, int]  # row, GPUs needed, place in line
NO_MORE: Pending = (-1, 0, sys.maxsize)
_CHUNK = 256  # jobs that are turned into plain numbers at a time: most walks end early


class Walk:
    """One walk down a schedule, through a room that knows what is free and how a job finds its place."""

    def __init__(self, requests: Requests, unit_of: Array, room: Room, *, undo: bool = True) -> None:
        """`unit_of`: by GPU id, the node or whatever else the room counts free GPUs by."""
        schedule, order = requests.schedule, requests.schedule.order
        self._requests, self._unit_of, self._room, self._undo = requests, unit_of, room, undo
        self._strict, self._preempt = schedule.strict, schedule.preempt
        self._queue = chain.from_iterable(_pending(requests, order))
        self._victims = Victims(requests, unit_of, order)
        # Released victims that are still to be reached, the next one last: victims come off from the end of
        # the line, so one that is released later stands before all of them.
        self._returning: list[int] = []
        self._returned: set[int] = set()  # victims that were reached, and went back where they had been
        # New placements in order: a job has an entry for each of its units.
        self._rows: list[int] = []
        self._units: list[int] = []
        self._counts: list[int] = []

    def run(self) -> Plan:
        """Goes down the line: every job is placed, passed over, or ends the walk."""
        room, victims, returning, blocked = self._room, self._victims, self._returning, False
        upcoming = next(self._queue, NO_MORE)
        while returning or upcoming is not NO_MORE:
            if returning and victims.places[returning[-1]] < upcoming[2]:
                victim = returning.pop()
                row, need, place = victims.rows[victim], victims.held[victim], victims.places[victim]
                if self._undo and self._goes_back(victim):
                    continue
            else:
                row, need, place = upcoming
                upcoming = next(self._queue, NO_MORE)
            if not room.total and not (self._preempt and victims.any_behind(place)):
                blocked = self._strict
                break
            if room.hopeless(need):
                continue
            shares = room.choose(row, need)
            if shares is None and self._preempt:
                shares = self._displace(row, need, place)
            if shares is not None:
                self._put(row, shares)
            elif self._strict:
                blocked = True
                break
            else:
                room.refuse(need)
        return self._plan(blocked)

    def _put(self, row: int, shares: list[Share]) -> None:
        self._room.take(row, shares)
        for unit, count in shares:
            self._rows.append(row)
            self._units.append(unit)
            self._counts.append(count)

    def _displace(self, row: int, need: int, place: int) -> list[Share] | None:
        """Releases jobs from the end of the order, only ones behind this place, until the job fits."""
        room, victims, shares = self._room, self._victims, None
        first = last = victims.off
        while shares is None and victims.reach(last) and victims.places[last] > place:
            given = victims.shares(last)
            room.give(victims.rows[last], given)
            last += 1
            shares = room.choose_after(row, need, given)
        if shares is not None or not self._undo:
            self._returning += range(first, last)
            victims.off = last
            return shares
        for back in range(first, last):
            room.take(victims.rows[back], victims.shares(back))
        return None

    def _goes_back(self, victim: int) -> bool:
        """A released job that is reached goes back where it was, if that is still free."""
        row, home = self._victims.rows[victim], self._victims.shares(victim)
        if not self._room.fits(row, home):
            return False
        self._room.take(row, home)
        self._returned.add(victim)
        return True

    def _plan(self, blocked: bool) -> Plan:
        victims, requests = self._victims, self._requests
        off = [victims.rows[i] for i in range(victims.off) if i not in self._returned]
        leaving = np.array(off, dtype=np.int64)
        if not self._rows:
            return requests.unplaced(leaving)
        change = requests.change(leaving)
        rows, units, counts = np.array(self._rows), np.array(self._units), np.array(self._counts)
        gpus = _lowest_ids(self._unit_of, change.free_ids, units, counts)
        starts = np.concatenate(([True], rows[1:] != rows[:-1])).nonzero()[0]
        change.put(rows[starts], np.add.reduceat(counts, starts), gpus)
        return change.plan(blocked=blocked, settled=self._undo and not change.moves)


class Victims:
    """Running jobs in the order in which they may be released: the last in line first.

    Lists by victim: row, place in line, unit (-1: several), GPUs held. The first `off` have been released.
    The lists hold as many as were asked for: `reach()` adds more."""

    def __init__(self, requests: Requests, unit_of: Array, order: Array) -> None:
        owner = requests.holdings.owner
        first, last = np.empty((2, requests.holdings.row_bound + 1), dtype=np.int32)
        last[owner] = unit_of  # GPUs come in ascending order: the last one stays (row -1: without an owner),
        first[owner[::-1]] = unit_of[::-1]  # or here the first
        self._first, self._last = first, last
        self._requests, self._unit_of = requests, unit_of
        self._line = (~requests.pending[order]).nonzero()[0][::-1]  # places of the running jobs
        self._order = order
        self.rows: list[int] = []
        self.places: list[int] = []
        self.units: list[int] = []
        self.held: list[int] = []
        self.off = 0

    def reach(self, count: int) -> bool:
        """Whether there are more than `count`; the lists then hold that many."""
        known = len(self.rows)
        if count < known:
            return True
        places = self._line[known : known + max(_CHUNK, known)]
        if not len(places):
            return False
        positions = self._order[places]
        rows = self._requests.schedule.jobs[positions]
        unit = self._first[rows]
        unit[unit != self._last[rows]] = -1
        self.rows += rows.tolist()
        self.places += places.tolist()
        self.units += unit.tolist()
        self.held += self._requests.held[positions].tolist()
        return True

    def any_behind(self, place: int) -> bool:
        """Whether any job that may still be released stands behind this place."""
        return self.reach(self.off) and self.places[self.off] > place

    def shares(self, victim: int) -> list[Share]:
        """Where a victim stands, or stood when the walk began."""
        unit = self.units[victim]
        if unit >= 0:
            return [(unit, self.held[victim])]
        gpus = self._requests.holdings.gpus_of(self.rows[victim])
        found, counts = np.unique(self._unit_of[gpus], return_counts=True)
        return list(zip(found.tolist(), counts.tolist()))


def _pending(requests: Requests, order: Array) -> Iterator[Iterable[Pending]]:
    """The jobs to be placed, first in line first, in chunks."""
    line = requests.pending[order].nonzero()[0]
    size = _CHUNK
    while len(line):
        places, line = line[:size], line[size:]
        positions = order[places]
        rows = requests.schedule.jobs[positions]
        yield zip(rows.tolist(), requests.need[positions].tolist(), places.tolist())
        size *= 2


def _lowest_ids(unit_of: Array, free_ids: Array, units: Array, counts: Array) -> Array:
    """The lowest free ids of each unit, in the order of the walk."""
    size = int(unit_of.max()) + 1
    by_unit = np.argsort(units, kind="stable")
    in_order = counts[by_unit]
    free = np.bincount(unit_of[free_ids], minlength=size)
    kept = free - np.bincount(units, weights=counts, minlength=size).astype(np.int64)
    first = np.empty(len(units), dtype=np.int64)  # of each placement, in the list of free ids
    first[by_unit] = in_order.cumsum() - in_order
    first += (kept.cumsum() - kept)[units]
    first -= counts.cumsum() - counts
    return free_ids.take(np.repeat(first, counts) + np.arange(int(counts.sum())))
