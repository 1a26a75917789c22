"""Ends: when each running job will end if nothing changes, and which job ends next.

While few jobs start and stop at a time, the jobs that end next are kept in a heap, and the others need not be
looked at. An entry whose job has stopped, or has another end by now, is dropped when it comes to the top.
Where many jobs start or stop at once, the ends of all running jobs are scanned, which is faster then.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.columns import SCALAR_MAX, scalar_view
from blox.state.jobs import JobState
from blox.workloads.table import Array

_HEAP_MIN = 4096  # entries of a new heap; if more jobs run than eight times this, an eighth of them


class Ends:
    """`of` is the end of each job by row (s); it has no meaning for jobs that do not run."""

    def __init__(self) -> None:
        self.of: Array = np.empty(0)
        self._of_one = scalar_view(self.of)
        self.earliest = math.inf  # no running job ends before
        self._stale = False  # whether `earliest` may be too early and must be found anew
        self._heap: list[tuple[float, int]] = []  # (end, row)
        self._horizon = -math.inf  # every running job that ends before is in the heap
        self._heap_max = 0  # entries: above, the heap is built anew, without those that are out of date
        self._few_changes = False  # since the last scan, only few jobs started or stopped at a time

    def grow(self, count: int) -> None:
        """Adds rows for jobs that have no end yet."""
        self.of = np.concatenate((self.of, np.full(count, np.inf)))
        self._of_one = scalar_view(self.of)

    def put(self, rows: Array, ends: Array) -> None:
        """Jobs start, or get another end; in the latter case call `stopped` as well."""
        if len(rows) <= SCALAR_MAX:
            for row, end in zip(rows.tolist(), ends.tolist()):
                self.put_one(row, end)
            return
        self.of[rows] = ends
        self.earliest = min(self.earliest, ends.item(ends.argmin()))
        self._horizon, self._few_changes = -math.inf, False

    def put_one(self, row: int, end: float) -> None:
        self._of_one[row] = end
        if end < self.earliest:
            self.earliest = end
        if end < self._horizon:
            heappush(self._heap, (end, row))
            if len(self._heap) > self._heap_max:
                self._horizon = -math.inf

    def stopped(self, count: int) -> None:
        """This many jobs have stopped: another job may be the next to end."""
        self._stale = True
        if count > SCALAR_MAX:
            self._horizon, self._few_changes = -math.inf, False

    def next(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """When the next job ends; inf: no job runs."""
        if self._stale:
            self._stale = False
            self.earliest = self._first(cluster_state, job_state)
        return self.earliest

    def due(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        """The jobs that have ended by now, ascending, and when. They are not returned again."""
        now = job_state.now
        if now < self._horizon and self._top(job_state) <= now:
            return self._due_in_heap(job_state)
        running = cluster_state.running
        ends = self.of[running]
        over = (ends <= now).nonzero()[0]
        rows = running[over]
        rows.sort()
        at = self.of[rows]
        if self._few_changes:
            self._stale = True
        else:
            self._few_changes = True
            ends[over] = math.inf
            self.earliest = ends.item(ends.argmin()) if len(ends) else math.inf
        return rows, at.item() if len(rows) == 1 else at

    def _due_in_heap(self, job_state: JobState) -> tuple[Array, Array | float]:
        """The same where all of them are in the heap."""
        end, row = heappop(self._heap)
        following = self._top(job_state)
        others = {}
        while following <= job_state.now:
            at, other = heappop(self._heap)
            others[other] = at
            following = self._top(job_state)
        self.earliest, self._stale = following, following >= self._horizon
        if not others:  # one job, as in most calls
            return job_state.one(row), end
        others[row] = end
        rows = np.array(sorted(others))
        return rows, self.of.take(rows)

    def _first(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The earliest end of the running jobs, from the heap where it is there."""
        if self._horizon > -math.inf:
            end = self._top(job_state)
            if end < self._horizon:
                return end
        running = cluster_state.running
        if not len(running):
            return math.inf
        ends = self.of[running]
        if not self._few_changes:
            self._few_changes = True
            return float(ends.item(ends.argmin()))
        self._build_heap(running, ends)
        return self._heap[0][0]

    def _build_heap(self, running: Array, ends: Array) -> None:
        """Fills the heap with the jobs that end next."""
        count = max(_HEAP_MIN, len(ends) // 8)
        self._horizon = math.inf
        if count < len(ends):
            soonest = ends.argpartition(count)[:count]
            running, ends = running[soonest], ends[soonest]
            self._horizon = ends.max().item()
        self._heap = sorted(zip(ends.tolist(), running.tolist()))
        self._heap_max = 4 * len(self._heap) + SCALAR_MAX

    def _top(self, job_state: JobState) -> float:
        """The end of the first entry whose job runs; drops those before it. inf: there is none."""
        heap, of, held = self._heap, self._of_one, job_state.scalars.held_gpus
        while heap:
            end, row = heap[0]
            if of[row] == end and held[row]:
                return end
            heappop(heap)
        return math.inf
