"""Demotions: when running jobs will have had the service of their queue, and when the original looks."""

from __future__ import annotations

from heapq import heappop, heappush

from blox.compat.tiresias.lane import NEVER, Job


class Kind:
    """Jobs that run on the same number of GPUs: whose limit is the first to come.

    The limit of a job comes when it has run, pauses left out, for as many seconds as its queue allows
    GPU-seconds: so late does the original expect it, before it divides what is left by the GPUs.
    """

    __slots__ = ("first", "gpus", "limits")

    def __init__(self, gpus: int) -> None:
        self.gpus = gpus
        self.limits: list[tuple[int, int, Job]] = []  # heap of (when, row)
        self.first = NEVER


class Demotions:
    """`limits`: service at which a job leaves each queue but the last. `by_gpu`: service is time x GPUs.

    `late`: the original's formula for its own wake-ups, which for a job of several GPUs is late.
    """

    def __init__(self, limits: list[int], *, by_gpu: bool, late: bool) -> None:
        self._limits, self._by_gpu, self._late = limits, by_gpu, late
        self._due: list[tuple[int, int, Job]] = []  # heap of (time, row)
        self.soonest = NEVER  # no job has had its service before
        self._kinds: dict[int, Kind] = {}  # by GPUs
        self._first: dict[int, int] = {}  # GPUs -> the first limit to come, where a job is watched

    def watch(self, job: Job) -> None:
        """A job begins to run, or goes on in another queue."""
        if job.level == len(self._limits):
            return
        gpus = job.gpus if self._by_gpu else 1
        limit = self._limits[job.level]
        begun = job.since - job.executed  # if it had never paused
        job.due = due = begun - -limit // gpus
        job.limit = limit = begun + limit
        heappush(self._due, (due, job.row, job))
        if due < self.soonest:
            self.soonest = due
        kind = self._kinds.get(gpus)
        if kind is None:
            kind = self._kinds[gpus] = Kind(gpus)
        job.kind = kind
        if self._late:
            heappush(kind.limits, (limit, job.row, job))
            if limit < kind.first:
                kind.first = self._first[gpus] = limit

    def unwatch(self, job: Job) -> None:
        """A job that runs stops, or leaves its queue."""
        kind, job.kind = job.kind, None
        if kind is not None and kind.first == job.limit:
            self._find_first(kind)

    def pop(self, now: int) -> list[Job]:
        """The jobs that have had the service of their queue, in order of arrival."""
        heap, found = self._due, {}
        while heap and heap[0][0] <= now:
            due, row, job = heappop(heap)
            if job.kind is not None and job.due == due:
                found[row] = job
        self.soonest = heap[0][0] if heap else NEVER
        return [found[row] for row in sorted(found)]

    def next(self, now: int) -> int:
        """When the queues want to be looked at."""
        if self._late:
            first = self._first
            return now + min([(limit - now) // gpus for gpus, limit in first.items()]) if first else NEVER
        while self._due:
            due, _, job = self._due[0]
            if job.kind is not None and job.due == due:
                return due
            heappop(self._due)
        return NEVER

    def _find_first(self, kind: Kind) -> None:
        """Finds the next limit in the heap for which a job is still watched."""
        heap = kind.limits
        while heap:
            limit, _, job = heap[0]
            if job.kind is kind and job.limit == limit:
                kind.first = self._first[kind.gpus] = limit
                return
            heappop(heap)
        kind.first = NEVER
        del self._first[kind.gpus]
