"""Placement where it matters on which nodes the free GPUs are: the walk down the schedule, written once.

In order: a running job stays; another takes free GPUs where the rule finds them; if it finds none and the
schedule may preempt, jobs are released from the end of the order, only ones behind it, until the rule is
satisfied, and put back if it never is. A released job that is reached later stays where it was if that is
still free. A rule sees nodes and counts; GPU ids on a node are handed out lowest first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from heapq import heappop, heappush
from typing import Protocol

import numpy as np

from blox.placement.walk.configured import configured
from blox.placement.walk.draining import set_aside
from blox.placement.walk.gpu_types import allowed_nodes
from blox.placement.walk.node_pool import NodePool, Share
from blox.placement.walk.pinned import place_pinned
from blox.placement.walk.placed import Placed
from blox.placement.walk.requests import Requests
from blox.placement.walk.victims import Victims
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.state.schedule import Schedule
from blox.workloads.table import Array


class NodeRule(Protocol):
    """How a placement policy picks nodes for one job.

    `choose` returns (node, GPUs) pairs that add up to `need`, or None; it must not change the pool.
    `bulk` means that single-node jobs go to `pool.best_fit`, so that many can be placed in one go.
    """

    @property
    def bulk(self) -> bool: ...

    def choose(self, pool: NodePool, need: int) -> list[Share] | None: ...


RuleOfJob = Callable[[int], NodeRule]
_END = sys.maxsize  # a place in line behind everybody
_LONG = 256  # jobs: a queue worth looking through for those who have no chance


def place_by_node(
    schedule: Schedule,
    cluster_state: ClusterState,
    job_state: JobState,
    rule: NodeRule | RuleOfJob,
    *,
    undo: bool = True,
) -> Allocation:
    """The contract of placement for rules that depend on where GPUs are free.

    `rule` is the same for all jobs, or a function that names the rule for a job, given its row.
    `undo=False` is how the original Blox does it: who was released for a job that found no place after
    all stays released, and a released job that is placed again in the same walk restarts.
    """
    if schedule.pinned is not None:
        return place_pinned(schedule, cluster_state, job_state)
    if schedule.config is not None:
        bare = place_by_node(replace(schedule, config=None), cluster_state, job_state, rule, undo=undo)
        return configured(schedule, bare, cluster_state)
    schedule, kept = set_aside(schedule, cluster_state, job_state)
    requests = Requests(schedule, cluster_state, job_state, kept)
    if not requests.waiting:
        return requests.settled()
    if not requests.free and (not schedule.preempt or requests.nobody_behind()):
        return requests.settled()
    return _Walk(requests, cluster_state, job_state, rule, undo).run()


class _Walk:
    """One walk. Jobs are positions in `schedule.jobs`; the queue is ordered, first in line first."""

    def __init__(
        self,
        requests: Requests,
        cluster_state: ClusterState,
        job_state: JobState,
        rule: NodeRule | RuleOfJob,
        undo: bool,
    ) -> None:
        self.requests, self.cluster, self.rule, self.undo = requests, cluster_state, rule, undo
        self.schedule, self.allocation = requests.schedule, requests.allocation
        self.allowed = allowed_nodes(self.schedule, cluster_state, job_state)
        self.placed = Placed()
        self.blocked = False
        self._place: Array | None = None
        self._victims: Victims | None = None
        node_free = cluster_state.node_free
        if len(requests.unlisted):
            node_free = node_free + self._per_node(requests.unlisted) * cluster_state.node_up
        self.pool = NodePool(node_free, cluster_state.node_gpus)
        self._line = self._front()
        self._whole = self._line is None  # nobody is left who might join it
        if self._line is None:
            queue = self.schedule.rank(requests.pending.nonzero()[0])
        else:
            queue = self._line[requests.pending[self._line]]
        self._queue_array: Array = queue  # the same, for looking places up
        self.queue: list[int] = queue.tolist()
        self.needs: list[int] = requests.need.take(queue).tolist()
        self._at = 0  # in the queue
        self._below = requests.capacity + 1  # who needs as much on one node cannot be placed any more
        # Places in line, all 0 until the first displacement asks for them; behind the queue nobody stands.
        self._queue_places: list[int] = [0] * len(self.queue) + [_END]
        # Released victims that are still to be reached, the next one last: they come off from the end of the
        # line, so whoever is released later stands before all of them.
        self._returning: list[int] = []
        self._stayed: list[int] = []  # victims that were reached, and went back where they had been

    def run(self) -> Allocation:
        """Down the line: everybody is placed, passed over, or ends the walk."""
        alike = self.allowed is None and not callable(self.rule)  # where one fails, all who need more do
        bulk = alike and not callable(self.rule) and self.rule.bulk
        while self._at < len(self.queue) or self._returning or self._extend():
            if bulk:
                self._fill()
                if self.blocked:
                    break
                if self._at == len(self.queue) and not self._returning:
                    continue
            job, need, victim = self._next()
            if not self.pool.total and not (self.schedule.preempt and self._has_victim(job)):
                self.blocked = self.schedule.strict
                break
            if self._stays(victim):
                continue
            if self._below <= need <= self.pool.top:
                continue
            if self._try(job, need) or (self.schedule.preempt and self._displace(job, need)):
                continue
            if self.schedule.strict:
                self.blocked = True
                break
            if alike and need <= self.pool.top:
                self._below = need
        return self.placed.allocation(
            self.requests, self.cluster, self._off(), blocked=self.blocked, vouches=self.undo
        )

    def _next(self) -> tuple[int, int, int]:
        """Who comes next and what it needs; of those who were released, which victim it is (else -1)."""
        if self._returning:
            victims = self._victims_in_line()
            if victims.places[self._returning[-1]] < self._queue_places[self._at]:
                victim = self._returning.pop()
                return victims.jobs[victim], victims.held[victim], victim
        self._at += 1
        return self.queue[self._at - 1], self.needs[self._at - 1], -1

    def _front(self) -> Array | None:
        """As much of the order as a long, overfull queue is going to need; None: all of it."""
        requests = self.requests
        if len(requests.need) <= 1024 or not self.schedule.preempt or self.schedule.strict:
            return None
        if int(requests.need.sum()) <= requests.capacity:
            return None
        running = requests.allocation.size
        return self.schedule.front(requests.need, requests.capacity, running + running // 8 + 64)

    def _extend(self) -> bool:
        """When the front of the line is served and GPUs are left, all who may still get some join it."""
        line, need, pending = self._line, self.requests.need, self.requests.pending
        if line is None or self._whole or not self.pool.total:
            return False
        self._whole = True
        joins = (need < self._below) | (need > self.pool.top) | ~pending
        joins[line] = False
        more = self.schedule.rank(joins.nonzero()[0])
        self._line = np.concatenate((line, more))
        fresh = more[pending[more]]
        self._queue_array = np.concatenate((self._queue_array, fresh))
        self.queue += fresh.tolist()
        self.needs += need.take(fresh).tolist()
        if self._place is not None and self._victims is not None:
            self._place[more] = np.arange(len(line), len(self._line))
            self._queue_places[-1:] = [*self._place[fresh].tolist(), _END]
            self._returning = list(self._victims.join(self._place))
        else:
            self._queue_places = [0] * len(self.queue) + [_END]
        return True

    def _fill(self) -> None:
        """The walk for rules that put a job on the best-fitting node, in one loop without calls.

        Stops before whatever concerns several nodes: a job wider than a node, or a displaced one that
        stood on several.
        """
        pool, queue, needs, returning = self.pool, self.queue, self.needs, self._returning
        free, heaps, top, total = pool.free, pool.heaps, pool.top, pool.total
        preempt, below, at = self.schedule.preempt, self._below, self._at
        placed, on_node, so_many = (
            self.placed.jobs.append,
            self.placed.nodes.append,
            self.placed.counts.append,
        )
        victims, queue_places, stayed = self._victims, self._queue_places, self._stayed.append
        if victims is not None:
            places, nodes, held, jobs = victims.places, victims.nodes, victims.held, victims.jobs
        most = top  # no node has more free GPUs
        while True:
            my_place, victim = queue_places[at], -1
            if returning and places[returning[-1]] < my_place:
                victim = returning[-1]
                node, need = nodes[victim], held[victim]
                if node < 0:
                    break
                returning.pop()
                left = free[node] - need
                if left >= 0:  # it stays
                    free[node] = left
                    if left:  # nobody looks for a node without free GPUs
                        heappush(heaps[left], node)
                    total -= need
                    stayed(victim)
                    continue
                my_place = places[victim]
            elif at < len(queue):
                need = needs[at]
                if need > top:
                    break
                at += 1
            else:
                break
            if not total and (not preempt or (victims is not None and not victims.behind(my_place))):
                at = len(queue)  # nothing is free, and nobody stands behind: the walk is over
                returning.clear()
                self.blocked = self.schedule.strict
                break
            if need >= below:
                continue
            node, count = -1, need
            while count <= most:
                heap = heaps[count]
                while heap:
                    node = heappop(heap)
                    if free[node] == count:
                        break
                    node = -1
                if node >= 0:
                    break
                count += 1
            if node < 0 and preempt:
                if victims is None:
                    victims = self._victims_in_line()
                    places, nodes, held, jobs = victims.places, victims.nodes, victims.held, victims.jobs
                    queue_places = self._queue_places
                    my_place = queue_places[at - 1]
                first = last = victims.off
                given = 0
                # Only the node that has just been given GPUs can fit: there was none before.
                while last < len(places) or victims.more():
                    node = nodes[last]
                    if node < 0 or places[last] <= my_place:
                        node = -1
                        break
                    count = held[last]
                    given += count
                    free[node] = count = free[node] + count
                    last += 1
                    if count >= need:
                        break
                    heappush(heaps[count], node)
                else:
                    node = -1
                most = need - 1
                if node >= 0:
                    total += given
                    victims.off = last
                    if first < victims.beyond:  # who is beyond the front of the line is not reached for now
                        first = victims.beyond
                    returning += range(first, last)
                    if count - need > most:
                        most = count - need
                else:  # in vain: everybody goes back
                    for back in range(first, last):
                        home = nodes[back]
                        free[home] = left = free[home] - held[back]
                        if left:
                            heappush(heaps[left], home)
                    if last < len(places) and places[last] > my_place:  # one that stands on several nodes:
                        if victim >= 0:  # the job is next again, and somebody else's turn to find it a place
                            returning.append(victim)
                        else:
                            at -= 1
                        break
            if node < 0:
                if self.schedule.strict:
                    self.blocked = True
                    break
                below = need
                if len(queue) - at > _LONG:
                    self._drop_hopeless(at, below)
                continue
            free[node] = left = count - need
            if left:
                heappush(heaps[left], node)
            total -= need
            placed(queue[at - 1] if victim < 0 else jobs[victim])
            on_node(node)
            so_many(need)
        self._at, self._below, pool.total = at, below, total

    def _drop_hopeless(self, at: int, below: int) -> None:
        """Takes those out of the queue, from `at` on, who need as much on one node as was not to be had."""
        rest = self._queue_array[at:]
        need = self.requests.need.take(rest)
        rest = rest[(need < below) | (need > self.pool.top)]
        self._queue_array = np.concatenate((self._queue_array[:at], rest))
        self.queue[at:] = rest.tolist()
        self.needs[at:] = self.requests.need.take(rest).tolist()
        if self._victims is not None:
            self._queue_places[at:] = [*self._places().take(rest).tolist(), _END]

    def _try(self, job: int, need: int) -> bool:
        if need > self.pool.total:
            return False
        pool = self.pool if self.allowed is None else self.pool.restricted(self.allowed[job])
        rule = self.rule(int(self.schedule.jobs[job])) if callable(self.rule) else self.rule
        shares = rule.choose(pool, need)
        if shares is None:
            return False
        for node, count in shares:
            self.pool.take(node, count)
            self.placed.add(job, node, count)
        return True

    def _stays(self, victim: int) -> bool:
        """A released job that is reached goes back where it was, if that is still free."""
        if not self.undo or victim < 0:
            return False
        home = self._shares_of(victim)
        for node, count in home:
            if self.pool.free[node] < count:
                return False
        for node, count in home:
            self.pool.take(node, count)
        self._stayed.append(victim)
        return True

    def _release(self, last: int) -> None:
        """The victims before `last` are off their nodes for good; each stands in line again at its place."""
        victims = self._victims_in_line()
        # Beyond the front of the line they are not reached for now.
        self._returning += range(max(victims.off, victims.beyond), last)
        victims.off = last

    def _displace(self, job: int, need: int) -> bool:
        """Releases jobs from the end of the order, only ones behind this one, until it fits."""
        victims = self._victims_in_line()
        my_place, last, fits = int(self._places()[job]), victims.off, False
        while not fits and victims.reach(last) and victims.places[last] > my_place:
            for node, count in self._shares_of(last):
                self.pool.give(node, count)
            last += 1
            fits = self._try(job, need)
        if fits or not self.undo:
            self._release(last)
            return fits
        for back in range(victims.off, last):
            for node, count in self._shares_of(back):
                self.pool.take(node, count)
        return False

    def _has_victim(self, job: int) -> bool:
        return self._victims_in_line().behind(int(self._places()[job]))

    def _in_line(self) -> Array:
        """Positions in order: the front of the line, or all of it."""
        return self.schedule.order if self._line is None else self._line

    def _places(self) -> Array:
        """Place in line by position; jobs beyond the front of the line stand last."""
        if self._place is None:
            line = self._in_line()
            self._place = np.full(len(self.requests.need), len(self.requests.need))
            self._place[line] = np.arange(len(line))
        return self._place

    def _victims_in_line(self) -> Victims:
        if self._victims is None:
            self._victims = Victims(self.requests, self.cluster, self._in_line(), self._places())
            self._queue_places = [*self._places().take(self._queue_array).tolist(), _END]
        return self._victims

    def _shares_of(self, victim: int) -> list[Share]:
        """Where a victim stands, or stood when the walk began."""
        victims = self._victims_in_line()
        node = victims.nodes[victim]
        if node >= 0:
            return [(node, victims.held[victim])]
        row = int(self.schedule.jobs[victims.jobs[victim]])
        found, counts = np.unique(self.cluster.gpu_node[self.allocation.gpus_of(row)], return_counts=True)
        return list(zip(found.tolist(), counts.tolist()))

    def _off(self) -> Array:
        """Which jobs, by position, were released and did not go back."""
        off = np.zeros(len(self.requests.need), dtype=bool)
        victims = self._victims
        if victims is not None and victims.off:
            jobs = np.array(victims.jobs[: victims.off])
            off[jobs] = True
            off[jobs[self._stayed]] = False
        return off

    def _per_node(self, rows: Array) -> Array:
        """GPUs that these rows hold, by node."""
        assert self.allocation.owner is not None
        marked = np.zeros(self.requests.rows + 1, dtype=bool)  # the last one is for GPUs that nobody owns
        marked[rows] = True
        held = marked.take(self.allocation.owner).view(np.int8)
        return np.add.reduceat(held, self.cluster.node_first, dtype=np.int64)
