"""The original's multi-level feedback queues, event by event, in whole seconds.

Waiting and running jobs are kept here as the original keeps them, since its order depends on history: jobs
move to the tails of queues, and after each event running jobs stand before waiting ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from blox.compat.tiresias.demotions import Demotions
from blox.compat.tiresias.lane import Job, Lane


@dataclass
class Queues:
    """Queues of jobs in order. `limits`: service at which a job leaves each queue but the last.

    `by_gpu`: service is time x GPUs. `late`: the original's formula for its own wake-ups, which for a job
    of several GPUs is late. `promote`: the starvation knob, 0 for off. `running_first`: after each event
    running jobs go before waiting ones. `index`: sorts each queue, the largest first.
    """

    limits: list[int]
    by_gpu: bool = True
    late: bool = True
    promote: float = 0.0
    running_first: bool = True
    index: Callable[[int], float] | None = None
    lanes: list[Lane] = field(default_factory=list)
    jobs: dict[int, Job] = field(default_factory=dict)
    promotions: dict[int, int] = field(default_factory=dict)  # by row, of jobs that were promoted
    used: int = 0  # GPUs of running jobs
    waiting: int = 0  # how many wait
    _demotions: Demotions = field(init=False)

    def __post_init__(self) -> None:
        self.lanes = [Lane() for _ in range(len(self.limits) + 1)]
        self._demotions = Demotions(self.limits, by_gpu=self.by_gpu, late=self.late)

    def remove(self, row: int) -> None:
        """A job has ended."""
        job = self.jobs.pop(row)
        self.lanes[job.level].remove(job)
        if job.running:
            self._demotions.unwatch(job)
            self.used -= job.gpus
        else:
            self.waiting -= 1

    def arrive(self, row: int, gpus: int, now: int) -> None:
        """A job comes, to the tail of the first queue."""
        self.jobs[row] = job = Job(row, gpus, now)
        self.lanes[0].append(job)
        self.waiting += 1

    def move(self, now: int) -> bool:
        """Demotes running jobs and promotes waiting ones, at most one move each; whether any moved."""
        demoted = self._demotions.pop(now) if self._demotions.soonest <= now else []
        promoted = self._promoted(now) if self.promote and self.waiting else []
        if not demoted and not promoted:
            return False
        for job in demoted:
            self.lanes[job.level].remove(job)
            self._demotions.unwatch(job)
            job.level += 1
            self.lanes[job.level].append(job)
            self._demotions.watch(job)
        for job in promoted:
            self.lanes[job.level].remove(job)
            self.lanes[0].append(job)
            job.level = job.executed = job.waited = 0
            job.since = now
            self.promotions[job.row] = self.promotions.get(job.row, 0) + 1
        return True

    def serve(self, total: int, now: int) -> tuple[list[Job], list[Job]]:
        """Gives out `total` GPUs, queue by queue, passing over jobs that do not fit: (starts, stops)."""
        starts: list[Job] = []
        stops: list[Job] = []
        if self.index is not None:
            for lane in self.lanes:
                lane.sort(self._sorted(lane, now))
        if not self.waiting:
            return starts, stops
        free = total
        for lane in self.lanes:
            if lane.wanted <= free and not lane.rest:  # all jobs run, and go on
                free -= lane.wanted
            else:
                free = lane.give(free, starts, stops, running_first=self.running_first)
        for job in stops:
            self._demotions.unwatch(job)
            job.executed += now - job.since
            job.running, job.since = False, now
        for job in starts:
            if job.executed:
                job.waited += now - job.since
            job.running, job.since = True, now
            self._demotions.watch(job)
        self.waiting += len(stops) - len(starts)
        self.used = total - free
        return starts, stops

    def next_jump(self, now: int) -> int:
        """When the queues want to be looked at again."""
        jump = self._demotions.next(now)
        if self.promote and self.waiting:
            for job in self._starving():
                left = int(job.executed * self.promote - job.has_waited(now))
                if left > 0:
                    jump = min(jump, now + left)
        return jump

    def _promoted(self, now: int) -> list[Job]:
        """The jobs that have waited long enough, in order of arrival."""
        due = [job for job in self._starving() if job.has_waited(now) >= int(job.executed * self.promote)]
        return sorted(due, key=lambda job: job.row)

    def _starving(self) -> Iterator[Job]:
        for lane in self.lanes[1:]:
            for job in lane.rest:
                if not job.running and job.executed > 0:
                    yield job

    def _sorted(self, lane: Lane, now: int) -> list[Job]:
        index = self.index
        assert index is not None
        by_gpu = self.by_gpu
        return sorted(
            [*lane.runs, *lane.rest],
            key=lambda job: (-index(job.ran(now) * (job.gpus if by_gpu else 1)), job.submit),
        )
