"""JobFeed: brings the jobs of a workload into JobState when their time comes, on any backend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from blox.state.jobs import JobState
from blox.workloads.fits import check_fits
from blox.workloads.table import Array, JobTable

Belief = Callable[[JobTable], JobTable]  # jobs as they are -> jobs as policies see them
OnBatch = Callable[[JobTable, Array, JobState], None]  # newly staged jobs, and their rows


class JobFeed:
    """Draws batches as they are needed and keeps at least one job ahead, to know the next submission."""

    def __init__(
        self,
        batches: Iterator[JobTable],
        largest: int,
        belief: Belief,
        most_jobs: int | None = None,
        resizes: bool = False,
    ):
        self._batches, self._largest, self._belief = batches, largest, belief
        self._resizes = resizes
        self._left = most_jobs
        self.submit_s: Array = np.empty(0)  # of every staged row
        self.duration_s: Array = np.empty(0)  # the true one of the same rows: for results, not for policies
        self.next_submission = -math.inf  # inf: no more jobs; -inf: not known yet

    def note(self, jobs: JobTable) -> None:
        """Appends the submissions and durations of jobs that have rows by now."""
        self.submit_s = np.concatenate((self.submit_s, jobs.columns["submit_s"]))
        self.duration_s = np.concatenate((self.duration_s, jobs.columns["duration_s"]))

    @property
    def ended(self) -> bool:
        """Whether every job has been submitted."""
        return self.next_submission == math.inf

    def advance(self, job_state: JobState, on_batch: OnBatch) -> None:
        """Submits every job that is due by `job_state.now`; calls `on_batch` for each batch staged."""
        while self.next_submission <= job_state.now:
            due, submit_s = job_state.submitted, self.submit_s
            while due < len(submit_s) and submit_s.item(due) <= job_state.now:
                due += 1
            if due > job_state.submitted:
                job_state.submit(due - job_state.submitted)
            if due < len(submit_s):
                self.next_submission = submit_s.item(due)
            elif not self._draw(job_state, on_batch):
                self.next_submission = math.inf

    def _draw(self, job_state: JobState, on_batch: OnBatch) -> bool:
        """Stages the next batch; False: there is none."""
        jobs = next(self._batches, None)
        if jobs is None or self._left == 0:
            return False
        if self._left is not None:
            jobs = jobs.take(slice(0, self._left))
            self._left -= len(jobs)
        check_fits(jobs, self._largest, self._resizes)
        seen = self._belief(jobs)
        rows = job_state.stage(seen, seen.columns["duration_s"])
        on_batch(jobs, rows, job_state)
        self.note(jobs)
        return True
