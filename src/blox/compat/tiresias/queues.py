"""The original's multi-level feedback queues, event by event, in whole seconds.

Who waits and who runs is kept here as the original keeps it, since its order depends on history: jobs
are moved to the tails of queues, and after each event those who run stand before those who wait.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

NEVER = sys.maxsize


class Job:
    """One job: `since` is when it last started, stopped or came; `executed` and `waited` count up to then."""

    __slots__ = ("due", "executed", "gpus", "level", "row", "running", "since", "submit", "waited")

    def __init__(self, row: int, gpus: int, now: int) -> None:
        self.row, self.gpus, self.submit = row, gpus, now
        self.level = self.executed = self.waited = 0
        self.running = False
        self.since = now
        self.due = NEVER  # when it has had the service that demotes it, if it goes on running

    def ran(self, now: int) -> int:
        """Seconds that count against the limit of its queue."""
        return self.executed + now - self.since if self.running else self.executed

    def has_waited(self, now: int) -> int:
        """All waits since the last promotion; a job that has not run since waits for nothing."""
        return self.waited + now - self.since if self.executed > 0 else self.waited


class Lane:
    """One queue: its jobs in order, the GPUs they want and hold, how many run.

    `tidy`: those who run stand before those who wait, so that what is left is looked at from there on.
    """

    __slots__ = ("held", "jobs", "runs", "tidy", "wanted")

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.wanted = self.held = self.runs = 0
        self.tidy = True

    def append(self, job: Job) -> None:
        self.jobs.append(job)
        self.wanted += job.gpus
        if job.running:
            self._count(job, 1)
            self.tidy = False

    def remove(self, job: Job) -> None:
        self.jobs.remove(job)
        self.wanted -= job.gpus
        if job.running:
            self._count(job, -1)

    def switch(self, job: Job) -> None:
        """A job has started or stopped."""
        self._count(job, 1 if job.running else -1)
        self.tidy = False

    def give(self, free: int, starts: list[Job], stops: list[Job]) -> int:
        """Hands out GPUs in order, passing over who does not fit; returns how many are left."""
        jobs = self.jobs
        if self.wanted <= free:
            if self.runs < len(jobs):
                starts += jobs[self.runs :] if self.tidy else [job for job in jobs if not job.running]
            return free - self.wanted
        if self.tidy and self.held <= free:
            free -= self.held
            jobs = jobs[self.runs :] if free else []
        for job in jobs:
            gpus = job.gpus
            if gpus <= free:
                free -= gpus
                if not job.running:
                    starts.append(job)
            elif job.running:
                stops.append(job)
        return free

    def put_in_order(self) -> None:
        """Those who run go before those who wait, both in the order in which they stand."""
        if not self.tidy and self.runs < len(self.jobs):
            runs: list[Job] = []
            waits: list[Job] = []
            for job in self.jobs:
                (runs if job.running else waits).append(job)
            self.jobs = runs + waits
        self.tidy = True

    def _count(self, job: Job, sign: int) -> None:
        self.runs += sign
        self.held += sign * job.gpus


@dataclass
class Queues:
    """Queues of jobs in order. `limits`: service at which a job leaves each queue but the last.

    `by_gpu`: service is time x GPUs. `late`: the original's formula for its own wake-ups, which for a job
    of several GPUs is late. `promote`: the starvation knob, 0 for off. `running_first`: after each event
    those who run go before those who wait. `index`: sorts each queue, the largest first.
    """

    limits: list[int]
    by_gpu: bool = True
    late: bool = True
    promote: float = 0.0
    running_first: bool = True
    index: Callable[[int], float] | None = None
    lanes: list[Lane] = field(default_factory=list)
    jobs: dict[int, Job] = field(default_factory=dict)
    promotions: dict[int, int] = field(default_factory=dict)  # by row, of those who ever were
    used: int = 0  # GPUs of those who run
    waiting: int = 0  # how many wait
    _due: list[tuple[int, int]] = field(default_factory=list)  # heap of (time, row)
    _watched: dict[int, Job] = field(default_factory=dict)  # who runs and can still be demoted
    # For late wake-ups. (limit, GPUs) -> heap of (when it would have begun to run without a pause, row) of
    # those who are watched; and, of the first of them, when plus the limit, and the GPUs.
    _begun: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict)
    _first: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lanes = [Lane() for _ in range(len(self.limits) + 1)]

    def remove(self, row: int) -> None:
        """A job has ended."""
        job = self.jobs.pop(row)
        self.lanes[job.level].remove(job)
        self._unwatch(job)
        if job.running:
            self.used -= job.gpus
        else:
            self.waiting -= 1

    def arrive(self, row: int, gpus: int, now: int) -> None:
        """A job comes, to the tail of the first queue."""
        self.jobs[row] = job = Job(row, gpus, now)
        self.lanes[0].append(job)
        self.waiting += 1

    def move(self, now: int) -> bool:
        """Demotes those who run and promotes those who wait, at most one queue each; whether any moved."""
        demoted = self._demoted(now) if self._due and self._due[0][0] <= now else []
        promoted = self._promoted(now) if self.promote and self.waiting else []
        if not demoted and not promoted:
            return False
        for job in demoted:
            self.lanes[job.level].remove(job)
            self._unwatch(job)
            job.level += 1
            self.lanes[job.level].append(job)
            self._watch(job)
        for job in promoted:
            self.lanes[job.level].remove(job)
            self.lanes[0].append(job)
            job.level = job.executed = job.waited = 0
            job.since = now
            self.promotions[job.row] = self.promotions.get(job.row, 0) + 1
        return True

    def serve(self, total: int, now: int) -> tuple[list[Job], list[Job]]:
        """Gives out `total` GPUs, queue by queue, passing over who does not fit: (who starts, who stops)."""
        starts: list[Job] = []
        stops: list[Job] = []
        if self.index is not None:
            for lane in self.lanes:
                self._sort(lane, now)
        if not self.waiting:
            return starts, stops
        free = total
        for lane in self.lanes:
            free = lane.give(free, starts, stops)
        for job in stops:
            self._stop(job, now)
        for job in starts:
            self._start(job, now)
        self.used = total - free
        if self.running_first:
            for lane in self.lanes:
                if not lane.tidy:
                    lane.put_in_order()
        return starts, stops

    def next_jump(self, now: int) -> int:
        """When the queues want to be looked at again."""
        jump = self._late_jump(now) if self.late else self._exact_jump()
        if self.promote and self.waiting:
            for job in self._starving():
                left = int(job.executed * self.promote - job.has_waited(now))
                if left > 0:
                    jump = min(jump, now + left)
        return jump

    def _late_jump(self, now: int) -> int:
        """What is left to the limit, in seconds, divided by the GPUs; of equals, who began first decides."""
        left = NEVER
        for end, gpus in self._first.values():
            this = (end - now) // gpus
            if this < left:
                left = this
        return NEVER if left == NEVER else now + left

    def _exact_jump(self) -> int:
        while self._due:
            due, row = self._due[0]
            job = self._watched.get(row)
            if job is not None and job.due == due:
                return due
            heappop(self._due)
        return NEVER

    def _demoted(self, now: int) -> list[Job]:
        """Who has had the service of its queue, in order of arrival."""
        found = {}
        while self._due and self._due[0][0] <= now:
            due, row = heappop(self._due)
            job = self._watched.get(row)
            if job is not None and job.due == due:
                found[row] = job
        return [found[row] for row in sorted(found)]

    def _promoted(self, now: int) -> list[Job]:
        """Who has waited long enough, in order of arrival."""
        due = [job for job in self._starving() if job.has_waited(now) >= int(job.executed * self.promote)]
        return sorted(due, key=lambda job: job.row)

    def _starving(self) -> Iterator[Job]:
        for lane in self.lanes[1:]:
            for job in lane.jobs:
                if not job.running and job.executed > 0:
                    yield job

    def _start(self, job: Job, now: int) -> None:
        job.waited = job.has_waited(now)
        job.running, job.since = True, now
        self.waiting -= 1
        self.lanes[job.level].switch(job)
        self._watch(job)

    def _stop(self, job: Job, now: int) -> None:
        self._unwatch(job)
        job.executed = job.ran(now)
        job.running, job.since = False, now
        self.waiting += 1
        self.lanes[job.level].switch(job)

    def _watch(self, job: Job) -> None:
        """Works out when a running job will have had the service of its queue."""
        if job.level == len(self.limits):
            return
        self._watched[job.row] = job
        begun = job.since - job.executed
        needs = -(-self.limits[job.level] // job.gpus) if self.by_gpu else self.limits[job.level]
        job.due = begun + needs
        heappush(self._due, (job.due, job.row))
        if self.late:
            key = (self.limits[job.level], job.gpus if self.by_gpu else 1)
            heappush(self._begun.setdefault(key, []), (begun, job.row))
            first = self._first.get(key)
            if first is None or key[0] + begun < first[0]:
                self._first[key] = (key[0] + begun, key[1])

    def _unwatch(self, job: Job) -> None:
        """A job stops running, or leaves its queue; call it before anything of the job changes."""
        if self._watched.pop(job.row, None) is None or not self.late:
            return
        key = (self.limits[job.level], job.gpus if self.by_gpu else 1)
        if self._first[key][0] == key[0] + job.since - job.executed:
            self._find_first(key)

    def _find_first(self, key: tuple[int, int]) -> None:
        """The next in the heap who is still watched for the same."""
        heap, watched = self._begun[key], self._watched
        while heap:
            begun, row = heap[0]
            job = watched.get(row)
            if job is not None and job.since - job.executed == begun and self.limits[job.level] == key[0]:
                self._first[key] = (key[0] + begun, key[1])
                return
            heappop(heap)
        del self._first[key]

    def _sort(self, lane: Lane, now: int) -> None:
        index = self.index
        assert index is not None
        lane.jobs.sort(key=lambda job: (-index(job.ran(now) * (job.gpus if self.by_gpu else 1)), job.submit))
        lane.tidy = False
