"""Placement where it matters on which nodes the free GPUs are: the walk down the schedule, written once.

In order: a running job stays; another takes free GPUs where the rule finds them; if it finds none and the
schedule may preempt, jobs are released from the end of the order, only ones behind it, until the rule is
satisfied, and put back if it never is. A released job that is reached later stays where it was if that is
still free. A rule sees nodes and counts; GPU ids on a node are handed out lowest first.
"""

from __future__ import annotations

from bisect import bisect
from typing import Protocol

import numpy as np

from blox.cluster_state import ClusterState
from blox.errors import BloxError
from blox.job_state import JobState
from blox.placement.node_pool import NodePool, Share
from blox.placement.requests import Requests, front_of_line
from blox.plan import Allocation, Draft
from blox.schedule import Schedule
from blox.workloads.table import Array


class NodeRule(Protocol):
    """How a placement policy picks nodes for one job.

    `choose` returns (node, GPUs) pairs that add up to `need`, or None; it must not change the pool.
    `bulk` means that single-node jobs go to `pool.best_fit`, so that many can be placed in one go.
    """

    @property
    def bulk(self) -> bool: ...

    def choose(self, pool: NodePool, need: int) -> list[Share] | None: ...


def place_by_node(
    schedule: Schedule,
    cluster_state: ClusterState,
    job_state: JobState,
    rule: NodeRule,
    *,
    undo: bool = True,
) -> Allocation:
    """The contract of placement for rules that depend on where GPUs are free.

    `undo=False` is how the original Blox does it: who was released for a job that found no place after
    all stays released, and a released job that is placed again in the same walk restarts.
    """
    requests = Requests(schedule, cluster_state, job_state)
    if not requests.pending.any():
        return requests.settled()
    if not requests.free and (not schedule.preempt or requests.nobody_behind()):
        return requests.settled()
    return _Walk(requests, cluster_state, job_state, rule, undo).run()


class _Walk:
    """One walk. Jobs are positions in `schedule.jobs`; the queue is ordered, first in line first."""

    def __init__(
        self, requests: Requests, cluster_state: ClusterState, job_state: JobState, rule: NodeRule, undo: bool
    ) -> None:
        self.requests, self.cluster, self.rule, self.undo = requests, cluster_state, rule, undo
        self.schedule, self.allocation = requests.schedule, requests.allocation
        self.allowed = _allowed_nodes(self.schedule, cluster_state, job_state)
        self.placed: list[int] = []  # position, node and count of every new placement, in order
        self.nodes: list[int] = []
        self.counts: list[int] = []
        self.blocked = False
        self._line: Array | None = None
        self._place_in_line: Array | None = None
        self._victims: list[int] | None = None
        self._homes: dict[int, list[Share]] = {}
        node_free = cluster_state.node_free
        if len(requests.unlisted):
            node_free = node_free + self._per_node(requests.unlisted)
        doomed = self._doomed() if undo and self.schedule.preempt else None
        if doomed is None:
            queue = self.schedule.rank(np.flatnonzero(requests.pending))
            self.released = bytearray(
                len(requests.need)
            )  # running jobs that are off their GPUs at the moment
        else:
            line = self._line
            assert line is not None
            queue = line[requests.pending[line] | doomed[line]]
            node_free = node_free + self._per_node(self.schedule.jobs[doomed])
            self.released = bytearray(doomed.tobytes())
        self.pool = NodePool(node_free, cluster_state.node_gpus)
        self.queue: list[int] = queue.tolist()
        self.needs: list[int] = requests.need.take(queue).tolist()

    def run(self) -> Allocation:
        preempt, at = self.schedule.preempt, 0
        # Who needs as much on as many nodes as a job that found no place finds none either.
        below = {1: self.requests.capacity + 1}  # number of nodes -> GPUs
        bulk = self.rule.bulk and self.allowed is None
        while at < len(self.queue):
            if bulk:
                at = self._fill(at, below[1])
                if at == len(self.queue):
                    break
            job, need = self.queue[at], self.needs[at]
            at += 1
            nodes = 1 if need <= self.pool.top else self.pool.fewest(need)
            if need >= below.get(nodes, need + 1) and not self.released[job]:
                continue
            if not self.pool.total and not (preempt and self._has_victim(job)):
                self.blocked = self.schedule.strict
                break
            if self._stays(job) or self._place(job, need) or (preempt and self._displace(job, need, at)):
                continue
            if self.schedule.strict:
                self.blocked = True
                break
            if self.allowed is None:
                below[nodes] = min(need, below.get(nodes, need))
                if need == 1:
                    break
        return self._result()

    def _fill(self, at: int, below: int) -> int:
        """Places one job after another on its best fit, as long as nothing needs a second look."""
        indices, nodes, stop = self.pool.fill(self.queue, self.needs, at, below, self.released)
        self.placed += [self.queue[i] for i in indices]
        self.nodes += nodes
        self.counts += [self.needs[i] for i in indices]
        return stop

    def _place(self, job: int, need: int) -> bool:
        if need > self.pool.total:
            return False
        pool = self.pool if self.allowed is None else self.pool.restricted(self.allowed[job])
        shares = self.rule.choose(pool, need)
        if shares is None:
            return False
        for node, count in shares:
            self.pool.take(node, count)
            self.placed.append(job)
            self.nodes.append(node)
            self.counts.append(count)
        return True

    def _stays(self, job: int) -> bool:
        """A released job that is reached goes back where it was, if that is still free."""
        if not self.undo or not self.released[job]:
            return False
        home = self._home(job)
        if any(self.pool.free[node] < count for node, count in home):
            return False
        for node, count in home:
            self.pool.take(node, count)
        self.released[job] = False
        return True

    def _displace(self, job: int, need: int, at: int) -> bool:
        """Releases jobs from the end of the order, only ones behind this one, until it fits."""
        victims = self._victims_in_line()
        place = self._places()
        my_place = int(place[job])
        mine: list[int] = []
        fits = False
        while not fits and victims and place[victims[-1]] > my_place:
            victim = victims.pop()
            mine.append(victim)
            self.released[victim] = True
            for node, count in self._home(victim):
                self.pool.give(node, count)
            fits = self._place(job, need)
        if fits or not self.undo:
            for victim in mine:
                where = bisect(self.queue, place[victim], lo=at, key=place.__getitem__)
                self.queue.insert(where, victim)
                self.needs.insert(where, int(self.requests.need[victim]))
            return fits
        for victim in reversed(mine):
            victims.append(victim)
            self.released[victim] = False
            for node, count in self._home(victim):
                self.pool.take(node, count)
        return False

    def _doomed(self) -> Array | None:
        """Running jobs that could not stay even if GPUs were merely counted: they are released together."""
        requests = self.requests
        if self.schedule.strict:  # the walk ends at the first misfit: who stands behind it stays
            return None
        if int(requests.need.sum()) <= requests.capacity:
            return None
        self._line, chosen, _ = front_of_line(requests)
        doomed = ~requests.pending
        doomed[chosen] = False
        return doomed

    def _has_victim(self, job: int) -> bool:
        victims = self._victims_in_line()
        return bool(victims) and bool(self._places()[victims[-1]] > self._places()[job])

    def _places(self) -> Array:
        """Place in line by position; jobs beyond the part of the order that matters stand last."""
        if self._place_in_line is None:
            line = self._line if self._line is not None else self.schedule.order
            self._place_in_line = np.full(len(self.requests.need), len(line))
            self._place_in_line[line] = np.arange(len(line))
        return self._place_in_line

    def _victims_in_line(self) -> list[int]:
        """Running jobs that may still be released, the last in line at the end."""
        if self._victims is None:
            line = self._line if self._line is not None else self.schedule.order
            off = np.frombuffer(self.released, dtype=bool)
            self._victims = line[~(self.requests.pending | off)[line]].tolist()
        return self._victims

    def _home(self, job: int) -> list[Share]:
        """The nodes on which a running job stands."""
        if job not in self._homes:  # look up those that are likely to be asked for next as well
            likely = {job, *(j for j in self.queue if self.released[j])}
            if self._victims:
                likely.update(self._victims[-16 - len(self._homes) // 2 :])
            self._look_up(np.array([j for j in likely if j not in self._homes]))
        return self._homes[job]

    def _look_up(self, jobs: Array) -> None:
        rows = self.schedule.jobs[jobs]
        held = self._marked(rows).nonzero()[0]
        assert self.allocation.owner is not None
        nodes: dict[int, dict[int, int]] = {row: {} for row in rows.tolist()}
        for row, node in zip(self.allocation.owner[held].tolist(), self.cluster.gpu_node[held].tolist()):
            nodes[row][node] = nodes[row].get(node, 0) + 1
        for job, row in zip(jobs.tolist(), rows.tolist()):
            self._homes[job] = list(nodes[row].items())

    def _marked(self, rows: Array) -> Array:
        """Which GPUs these rows hold."""
        assert self.allocation.owner is not None
        marked = np.zeros(self.requests.rows + 1, dtype=bool)  # the last one is for GPUs that nobody owns
        marked[rows] = True
        return marked.take(self.allocation.owner)

    def _per_node(self, rows: Array) -> Array:
        """GPUs that these rows hold, by node."""
        return np.add.reduceat(self._marked(rows).view(np.int8), self.cluster.node_first, dtype=np.int64)

    def _result(self) -> Allocation:
        off = np.frombuffer(self.released, dtype=bool).nonzero()[0]
        leaving = self.schedule.jobs.take(off)
        if not self.placed:
            return self.requests.settled(leaving)
        draft = self.requests.draft(leaving)
        placed, nodes, counts = np.array(self.placed), np.array(self.nodes), np.array(self.counts)
        gpus = self._gpu_ids(draft, nodes, counts)
        starts = np.concatenate(([True], placed[1:] != placed[:-1])).nonzero()[0]
        placed = placed[starts]
        jobs, totals = self.schedule.jobs.take(placed), np.add.reduceat(counts, starts)
        again = np.frombuffer(self.released, dtype=bool)[placed]
        if len(self.requests.unlisted):
            again = again | np.isin(jobs, self.requests.unlisted)
        if again.any():
            of_gpus = np.repeat(again, totals)
            draft.add(jobs[~again], totals[~again], gpus[~of_gpus])
            draft.move(jobs[again], totals[again], gpus[of_gpus])
        else:
            draft.add(jobs, totals, gpus)
        return draft.outcome(blocked=self.blocked, settled=self.undo and not again.any())

    def _gpu_ids(self, draft: Draft, nodes: Array, counts: Array) -> Array:
        """The lowest free ids on each node, in the order of the walk."""
        ids = self.cluster.is_free(draft).nonzero()[0]
        flat = np.repeat(nodes, counts)
        by_node = np.argsort(flat, kind="stable")
        sorted_nodes = flat[by_node]
        rank = np.arange(len(flat)) - np.searchsorted(sorted_nodes, sorted_nodes)
        gpus = np.empty(len(flat), dtype=np.int64)
        gpus[by_node] = ids[np.searchsorted(self.cluster.gpu_node[ids], sorted_nodes) + rank]
        return gpus


def _allowed_nodes(schedule: Schedule, cluster: ClusterState, job_state: JobState) -> dict[int, Array] | None:
    """Nodes that each job may use, where a job or the schedule restricts the GPU type; else None."""
    if schedule.gpu_type is None and not job_state.typed:
        return None
    everywhere = np.ones(cluster.nodes, dtype=bool)
    masks: dict[str, Array] = {"": everywhere}
    allowed: dict[int, Array] = {}
    names = job_state.columns.gpu_types[schedule.jobs]
    for position, text in enumerate(names.tolist()):
        if text not in masks:
            wanted = set(text.split("|"))
            known = [i for i, name in enumerate(cluster.gpu_types) if name in wanted]
            if not known:
                job_id = job_state.columns.job_id[schedule.jobs[position]]
                raise BloxError(
                    f"job {job_id!r} may use {text} only, and the cluster has {', '.join(cluster.gpu_types)}",
                    fix="give the cluster such GPUs, or leave the job out",
                )
            masks[text] = np.isin(cluster.node_type, known)
        mask = masks[text]
        if schedule.gpu_type is not None and int(schedule.gpu_type[position]) >= 0:
            mask = mask & (cluster.node_type == int(schedule.gpu_type[position]))
        allowed[position] = mask
    return allowed
