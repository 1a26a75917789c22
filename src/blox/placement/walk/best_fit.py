"""The walk by node for rules that put a job on its best-fitting node: the same steps, written out in one
loop.

Worth a factor of two where thousands of jobs are placed in a round (`benchmarks/run.py`: 10,000 GPUs, las
consolidated). Property tests hold it to the outcome of the contract.
"""

from __future__ import annotations

from heapq import heappush

from blox.placement.walk.node_room import NodeRoom
from blox.placement.walk.plain import NO_MORE, Walk
from blox.placement.walk.requests import Requests
from blox.state.plan import Plan
from blox.workloads.table import Array


class BestFitWalk(Walk):
    """Jobs that fit on one node are handled here as plain numbers, wider ones by the plain steps."""

    def __init__(self, requests: Requests, unit_of: Array, room: NodeRoom) -> None:
        super().__init__(requests, unit_of, room)
        self._pool = room.pool

    def run(self) -> Plan:
        pool, victims, returning, queue = self._pool, self._victims, self._returning, self._queue
        free, heaps, top, best_fit, returned = pool.free, pool.heaps, pool.top, pool.best_fit, self._returned
        put_row, put_node, put_count = self._rows.append, self._units.append, self._counts.append
        upcoming, blocked = next(queue, NO_MORE), False
        refused = top + 1  # jobs that need as many GPUs on one node, or more, are hopeless
        while returning or upcoming is not NO_MORE:
            if returning and victims.places[returning[-1]] < upcoming[2]:
                victim = returning.pop()
                node, need = victims.units[victim], victims.held[victim]
                if node < 0:
                    if self._goes_back(victim):
                        continue
                elif free[node] >= need:
                    free[node] = left = free[node] - need
                    if left:
                        heappush(heaps[left], node)
                    pool.total -= need
                    returned.add(victim)
                    continue
                row, place = victims.rows[victim], victims.places[victim]
            else:
                row, need, place = upcoming
                upcoming = next(queue, NO_MORE)
            if not pool.total and not (self._preempt and victims.any_behind(place)):
                blocked = self._strict
                break
            if refused <= need <= top:
                continue
            if need <= top:
                node = best_fit(need) if need <= pool.total else -1
                if node < 0 and self._preempt:
                    node = self._make_room(need, place)
                if node >= 0:
                    free[node] = left = free[node] - need
                    if left:
                        heappush(heaps[left], node)
                    pool.total -= need
                    put_row(row)
                    put_node(node)
                    put_count(need)
                    continue
                refused = need
            elif self._put_wide(row, need, place):
                continue
            if self._strict:
                blocked = True
                break
        return self._plan(blocked)

    def _put_wide(self, row: int, need: int, place: int) -> bool:
        """Places a job that is wider than a node, if it can be."""
        shares = self._room.choose(row, need)
        if shares is None and self._preempt:
            shares = self._displace(row, need, place)
        if shares is not None:
            self._put(row, shares)
        return shares is not None

    def _make_room(self, need: int, place: int) -> int:
        """Releases jobs from the end of the order, only ones behind this place, until a node has `need` GPUs.

        Returns the node, or -1 where there is none; then the jobs are put back.
        """
        victims, pool = self._victims, self._pool
        free, heaps, nodes, held, places = pool.free, pool.heaps, victims.units, victims.held, victims.places
        first = last = victims.off
        found, given = -1, 0
        while found < 0 and (last < len(places) or victims.reach(last)) and places[last] > place:
            node = nodes[last]
            if node < 0:
                shares = victims.shares(last)
                self._room.give(victims.rows[last], shares)
                found = min(
                    [(free[each], each) for each, _ in shares if free[each] >= need], default=(0, -1)
                )[1]
            else:
                free[node] = count = free[node] + held[last]
                given += held[last]
                heappush(heaps[count], node)
                if count >= need:  # no other node had enough before: only this one can
                    found = node
            last += 1
        pool.total += given
        if found >= 0:
            returning = self._returning
            returning += range(first, last)
            victims.off = last
            return found
        for back in range(first, last):
            self._room.take(victims.rows[back], victims.shares(back))
        return -1
