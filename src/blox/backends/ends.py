"""Ends: when each job that runs will end if nothing changes, and who is next.

While few jobs start and stop at a time, the next ones to end stand in a heap, so that nobody else need be
looked at. Who stands there and has stopped since, or has another end by now, is passed over when its turn
comes. Where many start or stop at once, the ends of all who run are looked through, which is quicker then.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.columns import SCALAR_MAX, scalar_view
from blox.state.jobs import JobState
from blox.workloads.table import Array

_LEAST = 4096  # jobs in a new heap; of more who run, one in eight


class Ends:
    """`of` gives the end of each job by row; it means nothing for jobs that do not run."""

    def __init__(self) -> None:
        self.of: Array = np.empty(0)
        self._of_one = scalar_view(self.of)
        self.earliest = math.inf  # nobody who runs ends before
        self._somebody_left = False  # so that the earliest must be looked for
        self._soon: list[tuple[float, int]] = []  # heap of (end, row)
        self._horizon = -math.inf  # everybody who runs and ends before stands in the heap
        self._most = 0  # jobs in the heap: with more, who has stopped is weeded out
        self._calm = False  # since the last look, only few have started or stopped at a time

    def grow(self, count: int) -> None:
        """So many more jobs are known, which have no end yet."""
        self.of = np.concatenate((self.of, np.full(count, np.inf)))
        self._of_one = scalar_view(self.of)

    def put(self, rows: Array, ends: Array) -> None:
        """Jobs start, or will end at another time than was thought; in that case call `left` too."""
        if len(rows) <= SCALAR_MAX:
            for row, end in zip(rows.tolist(), ends.tolist()):
                self.put_one(row, end)
            return
        self.of[rows] = ends
        self.earliest = min(self.earliest, ends.item(ends.argmin()))
        self._horizon, self._calm = -math.inf, False

    def put_one(self, row: int, end: float) -> None:
        self._of_one[row] = end
        if end < self.earliest:
            self.earliest = end
        if end < self._horizon:
            heappush(self._soon, (end, row))
            if len(self._soon) > self._most:
                self._horizon = -math.inf

    def stopped(self, count: int) -> None:
        """So many jobs have stopped: one of the others may be the next to end."""
        self._somebody_left = True
        if count > SCALAR_MAX:
            self._horizon, self._calm = -math.inf, False

    def next(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """When the next job ends; inf: nobody runs."""
        if self._somebody_left:
            self._somebody_left = False
            self.earliest = self._first(cluster_state, job_state)
        return self.earliest

    def due(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        """Who has ended by now, ascending, and when; they count no more."""
        now = job_state.now
        if now < self._horizon and self._top(job_state) <= now:
            return self._due_in_heap(job_state)
        running = cluster_state.allocation.jobs
        ends = self.of.take(running)
        over = (ends <= now).nonzero()[0]
        rows = running.take(over)
        rows.sort()
        at = self.of.take(rows)
        if self._calm:
            self._somebody_left = True
        else:
            self._calm = True
            ends[over] = math.inf
            self.earliest = ends.item(ends.argmin()) if len(ends) else math.inf
        return rows, at.item() if len(rows) == 1 else at

    def _due_in_heap(self, job_state: JobState) -> tuple[Array, Array | float]:
        """The same where all of them stand in the heap."""
        end, row = heappop(self._soon)
        following = self._top(job_state)
        others = {}
        while following <= job_state.now:
            at, other = heappop(self._soon)
            others[other] = at
            following = self._top(job_state)
        self.earliest, self._somebody_left = following, following >= self._horizon
        if not others:  # one alone, as mostly
            return job_state.one(row), end
        others[row] = end
        rows = np.array(sorted(others))
        return rows, self.of.take(rows)

    def _first(self, cluster_state: ClusterState, job_state: JobState) -> float:
        if self._horizon > -math.inf:
            end = self._top(job_state)
            if end < self._horizon:
                return end
        running = cluster_state.allocation.jobs
        if not len(running):
            return math.inf
        ends = self.of.take(running)
        if not self._calm:
            self._calm = True
            return float(ends.item(ends.argmin()))
        self._look_ahead(running, ends)
        return self._soon[0][0]

    def _look_ahead(self, running: Array, ends: Array) -> None:
        """Fills the heap with the next who end."""
        count = max(_LEAST, len(ends) // 8)
        self._horizon = math.inf
        if count < len(ends):
            soonest = ends.argpartition(count)[:count]
            running, ends = running.take(soonest), ends.take(soonest)
            self._horizon = ends.max().item()
        self._soon = sorted(zip(ends.tolist(), running.tolist()))
        self._most = 4 * len(self._soon) + SCALAR_MAX

    def _top(self, job_state: JobState) -> float:
        """The end of the first in the heap who does run; inf: there is none."""
        soon, of, held = self._soon, self._of_one, job_state.scalars.held_gpus
        while soon:
            end, row = soon[0]
            if of[row] == end and held[row]:
                return end
            heappop(soon)
        return math.inf
