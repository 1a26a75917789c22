"""Ends: when each running job will end if nothing changes, and which job ends next.

Jobs that end before a certain time, the horizon, are kept in a heap. Those that end later are not looked at
before the heap is used up; it is then filled with the running jobs that end next. An entry whose job has
stopped, or has another end by now, is dropped when it comes to the top. Where many jobs start or end at once,
all running jobs are scanned, which is faster then.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.columns import SCALAR_MAX, scalar_view
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.workloads.table import Array

_FILL = 1024  # least number of running jobs that fill a heap; it takes one in eight of more


class Ends:
    """The end of each job by row (s). It has no meaning for jobs that do not run; inf: it does not end."""

    def __init__(self) -> None:
        self._of: Array = np.empty(0)
        self._of_one = scalar_view(self._of)  # the same, one at a time
        self._heap: list[tuple[float, int]] = []  # (end, row)
        self._horizon = -math.inf  # every running job that ends before is in the heap
        self._few_changes = False  # since it was last filled, only few jobs have started or ended at a time

    def grow(self, count: int) -> None:
        """Adds rows for jobs that have no end yet."""
        self._of = np.concatenate((self._of, np.full(count, np.inf)))
        self._of_one = scalar_view(self._of)

    def put(self, rows: Array, ends: Array) -> None:
        """Many jobs start, or get another end."""
        self._of[rows] = ends
        self._heap, self._horizon, self._few_changes = [], -math.inf, False

    def put_one(self, row: int, end: float) -> None:
        """The same of one job."""
        self._of_one[row] = end
        if end < self._horizon:
            heappush(self._heap, (end, row))

    def next(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """When the next running job ends; inf: none does."""
        heap, of, held = self._heap, self._of_one, job_state.scalars.held_gpus
        while heap:
            end, row = heap[0]
            if of[row] == end and held[row]:
                return end
            heappop(heap)
        if not cluster_state.running_count:
            return math.inf
        self._fill(cluster_state.running)
        return self._heap[0][0]

    def pop(self) -> int:
        """Takes out the job that `next` has found, and returns its row. It has no end any more."""
        _, row = heappop(self._heap)
        self._of_one[row] = math.inf
        return row

    def due(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        """The running jobs that have ended by now, ascending, and when. They have no end any more."""
        heap, now = self._heap, job_state.now
        if (heap and now < heap[0][0]) or (end := self.next(cluster_state, job_state)) > now:
            return NO_ROWS, now
        if now >= self._horizon:
            return self._scan(cluster_state.running, now)
        ended = {}
        while end <= now:
            row = self.pop()
            ended[row], end = end, self.next(cluster_state, job_state)
        if len(ended) == 1:  # as in most calls
            return job_state.one(row), ended[row]
        rows = np.array(sorted(ended))
        return rows, np.array([ended[row] for row in rows.tolist()])

    def _scan(self, running: Array, now: float) -> tuple[Array, Array]:
        """The same where not all of them are in the heap."""
        rows = running[self._of[running] <= now]
        rows.sort()
        ends = self._of[rows]
        self._of[rows] = math.inf
        self._few_changes = self._few_changes and len(rows) <= SCALAR_MAX
        return rows, ends

    def _fill(self, running: Array) -> None:
        """Fills the heap with the running jobs that end next: with one only, where many change at a time."""
        ends = self._of[running]
        if not self._few_changes:
            first = ends.argmin()
            self._horizon, self._few_changes = ends.item(first), True
            self._heap = [(self._horizon, running.item(first))]
            return
        count = _FILL + len(ends) // 8
        self._horizon = math.inf
        if count < len(ends):
            soonest = ends.argpartition(count)[:count]
            running, ends = running[soonest], ends[soonest]
            self._horizon = ends.max().item()
        self._heap = sorted(zip(ends.tolist(), running.tolist()))
