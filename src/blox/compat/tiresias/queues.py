"""The original's multi-level feedback queues, event by event, in whole seconds.

Who waits and who runs is kept here as the original keeps it, since its order depends on history: jobs
are moved to the tails of queues, and after each event those who run stand before those who wait.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from blox.workloads.table import Array

NEVER = sys.maxsize


class Job:
    """One job: `since` is when it last started, stopped or came; `executed` and `waited` count up to then."""

    __slots__ = (
        "due",
        "executed",
        "gpus",
        "level",
        "row",
        "running",
        "since",
        "submit",
        "waited",
    )

    def __init__(self, row: int, gpus: int, now: int) -> None:
        self.row, self.gpus, self.submit = row, gpus, now
        self.level = self.executed = self.waited = 0
        self.running = False
        self.since = now
        self.due = NEVER  # when it has had the service that demotes it, if it goes on running

    def ran(self, now: int) -> int:
        """Seconds that count against the limit of its queue."""
        return self.executed + now - self.since if self.running else self.executed


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
    lanes: list[list[Job]] = field(default_factory=list)
    jobs: dict[int, Job] = field(default_factory=dict)
    promotions: dict[int, int] = field(default_factory=dict)  # by row, of those who ever were
    used: int = 0  # GPUs of those who run
    waiting: int = 0  # how many wait
    _due: list[tuple[int, int]] = field(default_factory=list)  # heap of (time, row)
    _watched: dict[int, Job] = field(default_factory=dict)  # who runs and can still be demoted

    def __post_init__(self) -> None:
        self.lanes = [[] for _ in range(len(self.limits) + 1)]

    def running(self) -> Array:
        """Rows of those who run."""
        return np.array([row for row, job in self.jobs.items() if job.running], dtype=np.int64)

    def remove(self, row: int) -> None:
        """A job has ended."""
        job = self.jobs.pop(row)
        self.lanes[job.level].remove(job)
        self._watched.pop(row, None)
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
        demoted = self._demoted(now)
        promoted = self._promoted(now) if self.promote and self.waiting else []
        for job in demoted:
            self.lanes[job.level].remove(job)
            job.level += 1
            self.lanes[job.level].append(job)
            self._watch(job, now)
        for job in promoted:
            self.lanes[job.level].remove(job)
            self.lanes[0].append(job)
            job.level = job.executed = job.waited = 0
            job.since = now
            self.promotions[job.row] = self.promotions.get(job.row, 0) + 1
        return bool(demoted or promoted)

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
            for job in lane:
                if job.gpus <= free:
                    free -= job.gpus
                    if not job.running:
                        starts.append(job)
                elif job.running:
                    stops.append(job)
        for job in stops:
            self._stop(job, now)
        for job in starts:
            self._start(job, now)
        self.used = total - free
        if self.running_first and self.waiting:
            for number, lane in enumerate(self.lanes):
                waiting = [job for job in lane if not job.running]
                if waiting:
                    self.lanes[number] = [job for job in lane if job.running] + waiting
        return starts, stops

    def next_jump(self, now: int) -> int:
        """When the queues want to be looked at again."""
        jump = NEVER
        limits = self.limits
        for job in self._watched.values():
            if self.late:
                left = limits[job.level] - job.executed - now + job.since
                at = now + (left // job.gpus if self.by_gpu else left)
            else:
                at = job.due
            if at < jump:
                jump = at
        if self.promote and self.waiting:
            for job in self._starving():
                left = int(job.executed * self.promote - self._waited(job, now))
                if left > 0:
                    jump = min(jump, now + left)
        return jump

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
        due = [job for job in self._starving() if self._waited(job, now) >= int(job.executed * self.promote)]
        return sorted(due, key=lambda job: job.row)

    def _starving(self) -> Iterable[Job]:
        for lane in self.lanes[1:]:
            for job in lane:
                if not job.running and job.executed > 0:
                    yield job

    def _waited(self, job: Job, now: int) -> int:
        """All waits since the last promotion; a job that has not run since waits for nothing."""
        return job.waited + now - job.since if job.executed > 0 else job.waited

    def _start(self, job: Job, now: int) -> None:
        job.waited = self._waited(job, now)
        job.running, job.since = True, now
        self.waiting -= 1
        self._watch(job, now)

    def _stop(self, job: Job, now: int) -> None:
        job.executed = job.ran(now)
        job.running, job.since = False, now
        self.waiting += 1
        self._watched.pop(job.row, None)

    def _watch(self, job: Job, now: int) -> None:
        """Works out when a running job will have had the service of its queue."""
        if job.level == len(self.limits):
            self._watched.pop(job.row, None)
            return
        self._watched[job.row] = job
        needs = -(-self.limits[job.level] // job.gpus) if self.by_gpu else self.limits[job.level]
        job.due = job.since - job.executed + needs
        heappush(self._due, (job.due, job.row))

    def _sort(self, lane: list[Job], now: int) -> None:
        index = self.index
        assert index is not None
        lane.sort(key=lambda job: (-index(job.ran(now) * (job.gpus if self.by_gpu else 1)), job.submit))
