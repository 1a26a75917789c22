"""Simulation: time jumps from event to event, and jobs progress as the true performance model says.

The truth lives here: durations, speeds, overheads. Policies see beliefs in JobState.
"""

from __future__ import annotations

import math
from itertools import repeat
from typing import Protocol

import numpy as np

from blox.backends.ends import Ends
from blox.backends.feed import JobFeed
from blox.options import SimulationOptions
from blox.performance.overheads import Overheads
from blox.state.cluster import ClusterState
from blox.state.columns import SCALAR_MAX, scalar_view
from blox.state.jobs import JobState, each
from blox.state.plan import NO_ROWS, Allocation
from blox.workloads.table import Array, JobTable

NO_TIMES: Array = np.empty(0)


class PerformanceModel(Protocol):
    """How fast jobs run on the GPUs they are given: 1.0 is the speed that their duration implies.

    One that takes GPUs of all types to be alike says so by a class attribute `by_gpu_type = False`, one in
    which being spread over nodes costs nothing by `by_nodes = False`: results then tell. As in any part,
    `check_cluster(spec)`, where there is one, refuses clusters that the model cannot work with.
    """

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float: ...


class Simulation:
    """The backend that only pretends: what would have happened, exactly and at once."""

    def __init__(
        self,
        feed: JobFeed,
        performance: PerformanceModel,
        overheads: Overheads | None = None,
        options: SimulationOptions | None = None,
        round_s: float = 300.0,
    ) -> None:
        self._feed, self._performance = feed, performance
        self._overheads = overheads or Overheads()
        self._options = options or SimulationOptions()
        self._round_s = round_s
        self._work_s: Array = np.empty(0)  # by row: true isolated seconds
        self._work_of = scalar_view(self._work_s)  # the same, one at a time
        self._ends = Ends()
        self._begin()

    def _begin(self) -> None:
        """Sets up what a kind of simulation keeps beside this; called once, when this is there."""

    @property
    def exhausted(self) -> bool:
        return self._feed.ended

    def node_events(self, now: float) -> list[tuple[int, bool]]:
        return []

    def submit(self, job_state: JobState) -> None:
        self._feed.advance(job_state, self._learn)

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Nothing to do: progress is anchored, and read off when somebody asks."""

    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        if job_state.now < self._ends.earliest:
            return NO_ROWS, NO_TIMES
        rows, at = self._ends.due(cluster_state, job_state)
        return rows, job_state.now if self._options.finish_at_boundary else at

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        rows = grants.jobs
        rate = self._performance.rate(grants, cluster_state, job_state)
        begin = job_state.now + self._overheads.delay(rows, job_state)
        if len(rows) <= SCALAR_MAX:
            work_s, done0, ends = self._work_of, job_state.scalars.done0, self._ends
            speeds = repeat(rate) if type(rate) is float else each(rate)
            starts = repeat(begin) if type(begin) is float else each(begin)
            for row, speed, start in zip(rows.tolist(), speeds, starts):
                ends.put_one(row, (work_s[row] - done0[row]) / speed + start if speed else math.inf)
            return rate, begin
        left = self._work_s.take(rows)
        left -= job_state.columns.done0.take(rows)
        if isinstance(rate, np.ndarray) or rate != 1.0:
            left /= rate
        left += begin
        self._ends.put(rows, left)
        return rate, begin

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """A job that holds no GPUs does not progress."""
        self._ends.left(len(rows))

    def next_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        earliest, submission = self._ends.next(cluster_state, job_state), self._feed.next_submission
        return earliest if earliest < submission else submission

    def wait_until(self, time_s: float) -> float:
        return time_s

    def close(self) -> None:
        """Nothing to give back."""

    def _learn(self, jobs: JobTable, rows: Array) -> None:
        """Takes the true work of newly staged jobs."""
        if self._options.whole_round_credit:
            work = _whole_rounds(jobs, self._round_s, self._options.credit_factor)
        else:
            work = jobs.columns["duration_s"]
        self._work_s = np.concatenate((self._work_s, work))
        self._work_of = scalar_view(self._work_s)
        self._ends.grow(len(rows))


def _whole_rounds(jobs: JobTable, round_s: float, factor: float) -> Array:
    """Seconds of run time until the sum of whole-round credits reaches a job's iterations.

    The original adds `round_s / iteration_time * factor` once per round in floating point; so does this,
    so that the last bit falls the same way.
    """
    duration = jobs.columns["duration_s"]
    iterations, iteration_s = jobs.column("iterations"), jobs.column("iteration_s")
    unknown = np.isnan(iterations) | np.isnan(iteration_s)
    total = np.where(unknown, duration, iterations)
    step = np.where(unknown, round_s, round_s / np.where(unknown, 1.0, iteration_s)) * factor
    rounds = np.empty(len(duration))
    for credit in np.unique(step):
        here = step == credit
        most = int(np.ceil(total[here].max() / credit)) + 2
        credits = np.add.accumulate(np.full(most, credit))
        rounds[here] = np.searchsorted(credits, total[here], side="left") + 1
    return rounds * round_s
