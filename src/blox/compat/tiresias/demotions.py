"""Demotions: when those who run will have had the service of their queue, and when the original looks."""

from __future__ import annotations

from heapq import heappop, heappush

from blox.compat.tiresias.lane import NEVER, Job


class Kind:
    """Jobs of one queue that take the same number of GPUs: what demotes them, and who is first."""

    __slots__ = ("begun", "end", "gpus", "limit", "needs")

    def __init__(self, limit: int, gpus: int) -> None:
        self.limit, self.gpus = limit, gpus
        self.needs = -(-limit // gpus)  # seconds
        self.begun: list[tuple[int, int, Job]] = []  # heap of (when it would have begun without a pause, row)
        self.end = NEVER  # of the first of them, when plus the limit


class Demotions:
    """`limits`: service at which a job leaves each queue but the last. `by_gpu`: service is time x GPUs.

    `late`: the original's formula for its own wake-ups, which for a job of several GPUs is late.
    """

    def __init__(self, limits: list[int], *, by_gpu: bool, late: bool) -> None:
        self._limits, self._by_gpu, self._late = limits, by_gpu, late
        self._due: list[tuple[int, int, Job]] = []  # heap of (time, row)
        self.soonest = NEVER  # nobody has had its service before
        self._kinds: dict[tuple[int, int], Kind] = {}  # by queue and GPUs
        self._first: dict[Kind, tuple[int, int]] = {}  # of kinds that run: `end` and GPUs

    def watch(self, job: Job) -> None:
        """A job begins to run, or goes on in another queue."""
        if job.level == len(self._limits):
            return
        key = (job.level, job.gpus if self._by_gpu else 1)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = Kind(self._limits[job.level], key[1])
        job.kind = kind
        begun = job.since - job.executed
        job.due = begun + kind.needs
        heappush(self._due, (job.due, job.row, job))
        if job.due < self.soonest:
            self.soonest = job.due
        if self._late:
            heappush(kind.begun, (begun, job.row, job))
            if begun + kind.limit < kind.end:
                kind.end = begun + kind.limit
                self._first[kind] = (kind.end, kind.gpus)

    def unwatch(self, job: Job) -> None:
        """A job that runs stops, or leaves its queue; call it before anything of the job changes."""
        kind, job.kind = job.kind, None
        if kind is not None and kind.end == job.since - job.executed + kind.limit:
            self._find_first(kind)

    def pop(self, now: int) -> list[Job]:
        """Who has had the service of its queue, in order of arrival."""
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
            # What is left to the limit, in seconds, divided by the GPUs; of equals, who began first decides.
            first = self._first
            return now + min([(end - now) // gpus for end, gpus in first.values()]) if first else NEVER
        while self._due:
            due, _, job = self._due[0]
            if job.kind is not None and job.due == due:
                return due
            heappop(self._due)
        return NEVER

    def _find_first(self, kind: Kind) -> None:
        """The next in the heap who is still watched for the same."""
        heap = kind.begun
        while heap:
            begun, _, job = heap[0]
            if job.kind is kind and job.since - job.executed == begun:
                kind.end = begun + kind.limit
                self._first[kind] = (kind.end, kind.gpus)
                return
            heappop(heap)
        kind.end = NEVER
        del self._first[kind]
