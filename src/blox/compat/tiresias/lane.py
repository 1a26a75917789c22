"""Lane: one of the original's queues, and Job: what it keeps about a job in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blox.compat.tiresias.demotions import Kind

NEVER = sys.maxsize


class Job:
    """One job: `since` is when it last started, stopped or came; `executed` and `waited` count up to then."""

    __slots__ = (
        "due",
        "executed",
        "gpus",
        "kind",
        "level",
        "limit",
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
        self.kind: Kind | None = None  # while it runs, and can still be demoted
        self.due = self.limit = NEVER  # when it has had the service that demotes it, if it goes on; see Kind

    def ran(self, now: int) -> int:
        """Seconds that count against the limit of its queue."""
        return self.executed + now - self.since if self.running else self.executed

    def has_waited(self, now: int) -> int:
        """All waits since the last promotion; a job that has not run since waits for nothing."""
        return self.waited + now - self.since if self.executed > 0 else self.waited


class Lane:
    """Jobs in order: first `runs`, which all run, then `rest`, which holds all that wait.

    `runs` is a dictionary without values: ordered, and any job is removed without a search.
    `wanted` and `held` are the GPUs of all and of `runs`, `waiting` is how many wait, and `least` the fewest
    GPUs that one of these takes.
    """

    __slots__ = ("_sizes", "held", "least", "rest", "runs", "waiting", "wanted")

    def __init__(self) -> None:
        self.runs: dict[Job, None] = {}
        self.rest: list[Job] = []
        self.wanted = self.held = self.waiting = 0
        self.least = NEVER
        self._sizes: dict[int, int] = {}  # GPUs -> how many waiting jobs take so many

    def append(self, job: Job) -> None:
        self.wanted += job.gpus
        if job.running and not self.rest:
            self.runs[job] = None
            self.held += job.gpus
            return
        self.rest.append(job)
        if not job.running:
            self._waits(job.gpus)

    def remove(self, job: Job) -> None:
        self.wanted -= job.gpus
        if job.running and job in self.runs:
            del self.runs[job]
            self.held -= job.gpus
            return
        self.rest.remove(job)
        if not job.running:
            self._waits_no_more(job.gpus)

    def sort(self, jobs: list[Job]) -> None:
        """The same jobs stand in another order."""
        self.runs, self.rest, self.held = {}, jobs, 0

    def give(self, free: int, starts: list[Job], stops: list[Job], *, running_first: bool) -> int:
        """Hands out GPUs in order, passing over jobs that do not fit; returns how many are left.

        `running_first`: jobs that run from now on go before jobs that wait, each in their present order.
        """
        if self.wanted <= free:
            return free - self._give_all(starts)
        runs, rest = self.runs, self.rest
        if self.held > free:  # only the first of the running jobs are sure to go on
            unsure = []
            while self.held > free:
                last, _ = runs.popitem()
                self.held -= last.gpus
                unsure.append(last)
            rest = unsure[::-1] + rest
        free -= self.held
        only_waiting = self.waiting == len(rest)
        if only_waiting and free < self.least:
            return free
        before = free
        stay: list[Job] = []
        left: list[Job] = []
        in_line = iter(rest)
        for job in in_line:
            gpus = job.gpus
            if gpus <= free:
                free -= gpus
                stay.append(job)
                if not job.running:
                    starts.append(job)
                    self._waits_no_more(gpus)
            else:
                left.append(job)
                if job.running:
                    stops.append(job)
                    self._waits(gpus)
            if only_waiting and free < self.least:
                left += in_line  # no other job fits
        if running_first:
            runs.update(dict.fromkeys(stay))
            self.held += before - free
            self.rest = left
        else:
            self.rest = rest
        return free

    def _give_all(self, starts: list[Job]) -> int:
        """All jobs run from now on; returns the GPUs that they take."""
        rest = self.rest
        starts += rest if self.waiting == len(rest) else [job for job in rest if not job.running]
        self.runs.update(dict.fromkeys(rest))
        self.rest, self.held, self.waiting, self.least = [], self.wanted, 0, NEVER
        self._sizes.clear()
        return self.wanted

    def _waits(self, gpus: int) -> None:
        """Counts one more waiting job of so many GPUs."""
        self.waiting += 1
        self._sizes[gpus] = self._sizes.get(gpus, 0) + 1
        if gpus < self.least:
            self.least = gpus

    def _waits_no_more(self, gpus: int) -> None:
        self.waiting -= 1
        self._sizes[gpus] -= 1
        if not self._sizes[gpus]:
            del self._sizes[gpus]
            if gpus == self.least:
                self.least = min(self._sizes, default=NEVER)
