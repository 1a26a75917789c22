"""Ends: when each running job will end if nothing changes, and which job ends next.

Jobs that end before a certain time, the horizon, are kept in a heap. Those that end later are not looked at
before the heap is used up; it is then filled with the running jobs that end next. An entry whose job has
stopped, or has another end by now, is dropped when it comes to the top. Where many jobs start or end at once,
all running jobs are scanned, which is faster then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

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
        # Every running job that ends before is in the heap; -inf: none is known, at first and when many jobs
        # have started or ended at once.
        self._horizon = -math.inf

    def grow(self, count: int) -> None:
        """Adds rows for jobs that have no end yet."""
        self._of = np.concatenate((self._of, np.full(count, np.inf)))
        self._of_one = scalar_view(self._of)

    def put(self, rows: Array, ends: Array) -> None:
        """Many jobs start, or get another end."""
        self._of[rows] = ends
        self._heap, self._horizon = [], -math.inf

    def put_one(self, row: int, end: float) -> None:
        """The same of one job."""
        self._of_one[row] = end
        if end < self._horizon:
            heappush(self._heap, (end, row))

    def after(self, rows: Array, at: float) -> Array:
        """Which of these running jobs have not ended by `at` (s)."""
        later: Array = self._of[rows] > at
        return later

    def next(self, job_state: JobState) -> float:
        """When the next running job ends; inf: none does."""
        heap, of, held = self._heap, self._of_one, job_state.scalars.held_gpus
        while heap:
            end, row = heap[0]
            if of[row] == end and held[row]:
                return end
            heappop(heap)
        running = job_state.active[job_state.running]
        if not len(running):
            return math.inf
        self._fill(running)
        return self._heap[0][0]

    def drain(self, job_state: JobState) -> Iterator[tuple[int, float]]:
        """Takes out one by one, in order of time, the running jobs that have ended by now: (row, end).

        A job that is taken out has no end any more; it may get another before the next is asked for.
        """
        while (end := self.next(job_state)) <= job_state.now:
            _, row = heappop(self._heap)
            self._of_one[row] = math.inf
            yield row, end

    def due(self, job_state: JobState) -> tuple[Array, Array | float]:
        """The running jobs that have ended by now, ascending, and when. They have no end any more."""
        heap, now = self._heap, job_state.now
        if heap and now < heap[0][0]:
            return NO_ROWS, now
        if now < self._horizon:  # every job that has ended by now is in the heap
            of, held, ended = self._of_one, job_state.scalars.held_gpus, []
            while heap and heap[0][0] <= now:
                end, row = heappop(heap)
                if of[row] == end and held[row]:
                    of[row] = math.inf
                    ended.append((row, end))
            return by_row(ended, job_state)
        running = job_state.active[job_state.running]
        rows = running[self._of.take(running) <= now]
        ends = self._of[rows]
        self._of[rows] = math.inf
        if len(rows) > SCALAR_MAX:
            self._heap, self._horizon = [], -math.inf
        return rows, ends

    def _fill(self, running: Array) -> None:
        """Fills the heap with the running jobs that end next: with one only after many changed at once."""
        ends = self._of.take(running)
        count = 1 if self._horizon == -math.inf else _FILL + len(ends) // 8
        takes_all = count >= len(ends)
        if not takes_all:
            soonest = ends.argmin(axis=0, keepdims=True) if count == 1 else ends.argpartition(count)[:count]
            running, ends = running[soonest], ends[soonest]
        self._heap = sorted(zip(ends.tolist(), running.tolist()))
        self._horizon = math.inf if takes_all else self._heap[-1][0]


def by_row(ended: list[tuple[int, float]], job_state: JobState) -> tuple[Array, Array | float]:
    """The rows of jobs, ascending, and when each ended, of (row, end) in any order."""
    if len(ended) == 1:  # as in most calls
        row, end = ended[0]
        return job_state.one(row), end
    ended.sort()
    return np.array([row for row, _ in ended], dtype=np.int64), np.array([end for _, end in ended])
