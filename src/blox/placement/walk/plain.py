"""The walk where it matters which GPUs are free. It defines the contract of placement.

In order: a running job stays; another takes free GPUs where the rule finds them; if it finds none and the
schedule may preempt, jobs are released from the end of the order, only ones behind it, until the rule is
satisfied, and put back if it never is. A released job that is reached later stays where it was if that is
still free. A job that finds no place is passed over, or ends the walk if the schedule is strict. A room
knows counts of free GPUs by unit: by node as a rule, whose GPU ids are handed out lowest first, or by GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain

import numpy as np

from blox import Allocation, Plan
from blox.placement.walk.requests import Requests
from blox.placement.walk.room import Room, Share, Shares
from blox.workloads.table import Array

InLine = tuple[int, int, int]  # row, GPUs needed or held, place in line
NO_MORE: InLine = (-1, 0, sys.maxsize)
_CHUNK = 128  # jobs that are turned into plain numbers at a time: most walks end early


class Walk:
    """One walk down a schedule, through a room that knows what is free and how a job finds its place."""

    def __init__(self, requests: Requests, unit_of: Array, room: Room, *, undo: bool = True) -> None:
        """`unit_of`: by GPU id, the node or whatever else the room counts free GPUs by; ascending."""
        self._requests, self._unit_of, self._room, self._undo = requests, unit_of, room, undo
        self._victims = Victims(requests, unit_of)
        # Released victims that are still to be reached, the next one last: victims come off from the end of
        # the line, so one that is released later stands before all of them.
        self._returning: list[int] = []
        self._returned: list[int] = []  # victims that were reached, and went back where they had been
        # New placements in order: a job has an entry for each of its units.
        self._rows: list[int] = []
        self._units: list[int] = []
        self._counts: list[int] = []

    def run(self) -> Plan:
        """Goes down the line: every job is placed, passed over, or ends the walk."""
        room, victims, returning, undo = self._room, self._victims, self._returning, self._undo
        strict, preempt = self._requests.schedule.strict, self._requests.schedule.preempt
        waiting = _in_line(self._requests, self._requests.need, waiting=True)
        queue = chain.from_iterable(zip(*(each.tolist() for each in chunk)) for chunk in waiting)
        take, fits, choose, places, alike = room.take, room.fits, room.choose, victims.places, room.alike
        put_row, put_unit, put_count = self._rows.append, self._units.append, self._counts.append
        upcoming, refused, blocked = next(queue, NO_MORE), sys.maxsize, False
        while returning or upcoming is not NO_MORE:
            if returning and places[returning[-1]] < upcoming[2]:
                victim = returning.pop()
                row, need, place = victims.rows[victim], victims.held[victim], places[victim]
                home = victims.homes[victim]
                if undo and fits(row, home):
                    for unit, count in home:
                        take(row, unit, count)
                    self._returned.append(victim)
                    continue
            else:
                row, need, place = upcoming
                upcoming = next(queue, NO_MORE)
            if not room.total and not (preempt and victims.any_behind(place)):
                blocked = strict
                break
            if refused <= need <= alike:
                continue
            shares = choose(row, need) if need <= room.total else None
            if shares is None and preempt:
                shares = self._displace(row, need, place)
            if shares is not None:
                for unit, count in shares:
                    take(row, unit, count)
                    put_row(row)
                    put_unit(unit)
                    put_count(count)
            elif strict:
                blocked = True
                break
            elif need <= alike:
                refused = need
        return self._plan(blocked)

    def _displace(self, row: int, need: int, place: int) -> list[Share] | None:
        """Releases jobs from the end of the order, only ones behind this place, until the job fits."""
        room, victims, free, shares = self._room, self._victims, self._room.free, None
        rows, homes, places, last = victims.rows, victims.homes, victims.places, victims.off
        take, whole = room.take, room.whole
        while shares is None and (last < len(places) or victims.reach()) and places[last] > place:
            home = homes[last]
            for unit, count in home:
                take(rows[last], unit, -count)
            last += 1
            if need > whole or len(home) > 1:
                shares = room.choose(row, need) if need <= room.total else None
            elif free[unit] >= need:  # no other unit had enough before: only this one can
                shares = [(unit, need)]
        released = range(victims.off, last)
        if shares is not None or not self._undo:
            self._returning += released
            victims.off = last
        else:
            for victim in released:
                for unit, count in homes[victim]:
                    take(rows[victim], unit, count)
        return shares

    def _plan(self, blocked: bool) -> Plan:
        off = np.array(self._victims.rows[: self._victims.off], dtype=np.int64)
        leaving = np.delete(off, self._returned)
        if not self._rows:
            return self._requests.unplaced(leaving)
        holdings, gone = self._requests.holdings, self._requests.gone(leaving)
        freed = holdings.held_by(gone)
        rows, units, counts = np.array(self._rows), np.array(self._units), np.array(self._counts)
        gpus = _lowest_ids(self._unit_of, holdings.free.ids_with(freed), units, counts)
        starts = np.concatenate(([True], rows[1:] != rows[:-1])).nonzero()[0]
        placed = Allocation(rows[starts], np.add.reduceat(counts, starts), gpus)
        return Plan.of(gone, freed, placed, blocked=blocked, settled=self._undo)


class Victims:
    """Running jobs in the order in which they may be released: the last in line first.

    Lists by victim: row, GPUs held, place in line, and where it stood when the walk began. The first `off`
    have been released. The lists hold as many as were asked for.
    """

    def __init__(self, requests: Requests, unit_of: Array) -> None:
        self._holdings, self._unit_of = requests.holdings, unit_of
        self._more = _in_line(requests, requests.held, waiting=False)
        self._unit: Array | None = None  # by row: the unit that it stands on; -1: several
        self.rows: list[int] = []
        self.held: list[int] = []
        self.places: list[int] = []
        self.homes: list[Shares] = []
        self.off = 0

    def any_behind(self, place: int) -> bool:
        """Whether any job that may still be released stands behind this place."""
        return (self.off < len(self.places) or self.reach()) and self.places[self.off] > place

    def reach(self) -> bool:
        """Lists more victims; False: all are listed."""
        more = next(self._more, None)
        if more is None:
            return False
        if self._unit is None:
            owner, unit_of = self._holdings.owner, self._unit_of
            self._unit = np.full(self._holdings.row_bound + 1, -1)  # the last entry: GPUs without an owner
            self._unit[owner] = unit_of
            self._unit[owner[self._unit[owner] != unit_of]] = -1
        rows, held, places = (each.tolist() for each in more)
        self.rows += rows
        self.held += held
        self.places += places
        self.homes += [
            ((unit, count),) if unit >= 0 else self._spread(row)
            for row, unit, count in zip(rows, self._unit[more[0]].tolist(), held)
        ]
        return True

    def _spread(self, row: int) -> Shares:
        """Where a job of several units stands."""
        units, counts = np.unique(self._unit_of[self._holdings.gpus_of(row)], return_counts=True)
        return tuple(zip(units.tolist(), counts.tolist()))


def _in_line(requests: Requests, gpus: Array, *, waiting: bool) -> Iterator[tuple[Array, Array, Array]]:
    """The jobs that wait, the first in line first, or that run, the last in line first; in growing chunks.

    Row, GPUs and place in line of each."""
    order, size = requests.schedule.order, _CHUNK
    places = (requests.pending[order] == waiting).nonzero()[0]
    places = places if waiting else places[::-1]
    while len(places):
        here, places = places[:size], places[size:]
        positions = order[here]
        yield requests.schedule.jobs[positions], gpus[positions], here
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
