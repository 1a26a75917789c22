"""Ends: when each running job will end if nothing changes, and which job ends next.

Jobs that end before a certain time, the horizon, are kept in a heap. Those that end later are not looked at
before the heap is used up; it is then filled with the running jobs that end next. An entry whose job has
stopped, or has another end by now, is dropped when it comes to the top.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from heapq import heapify, heappop, heappush

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.columns import scalar_view
from blox.state.jobs import JobState
from blox.workloads.table import Array

_FILL = 64  # least number of running jobs that fill a heap; it takes one in eight of more


class Ends:
    """The end of each job by row (s). It has no meaning for jobs that do not run; inf: it does not end."""

    def __init__(self) -> None:
        self._of: Array = np.empty(0)
        self._of_one = scalar_view(self._of)  # the same, one at a time
        self._heap: list[tuple[float, int]] = []  # (end, row)
        self._horizon = -math.inf  # every running job that ends before is in the heap
        self._heap_max = 0  # entries: above, to fill the heap anew is faster than to add many

    def grow(self, count: int) -> None:
        """Adds rows for jobs that have no end yet."""
        self._of = np.concatenate((self._of, np.full(count, np.inf)))
        self._of_one = scalar_view(self._of)

    def put(self, rows: Array, ends: Array) -> None:
        """Jobs start, or get another end."""
        self._of[rows] = ends
        soon = (ends < self._horizon).nonzero()[0]
        if len(self._heap) + len(soon) > self._heap_max:
            self._heap, self._horizon = [], -math.inf
            return
        for entry in zip(ends[soon].tolist(), rows[soon].tolist()):
            heappush(self._heap, entry)

    def put_one(self, row: int, end: float) -> None:
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
        self._fill(cluster_state.running)
        return self._heap[0][0] if self._heap else math.inf

    def due(self, cluster_state: ClusterState, job_state: JobState) -> Iterator[tuple[int, float]]:
        """The running jobs that have ended by now, and when, in order of time. None is returned again.

        Other jobs may get another end meanwhile.
        """
        while (end := self.next(cluster_state, job_state)) <= job_state.now:
            _, row = heappop(self._heap)
            self._of_one[row] = math.inf
            yield row, end

    def _fill(self, running: Array) -> None:
        """Fills the heap with the running jobs that end next."""
        ends, count = self._of[running], _FILL + len(running) // 8
        self._horizon, self._heap_max = math.inf, 2 * count
        if count < len(running):
            soonest = ends.argpartition(count)[:count]
            running, ends = running[soonest], ends[soonest]
            self._horizon = ends.max().item()
        self._heap = list(zip(ends.tolist(), running.tolist()))
        heapify(self._heap)
