"""ElasticSimulation: the simulation of jobs whose speed changes while they run.

The benefit of larger batches changes as a training job learns, so the rate of an elastic job is constant only
within a stage of its work. All stages are known when a job starts or is adjusted. A stage begins exactly
where the previous one ends, even if the loop notices later, so a skipped round leaves the same bits behind as
an executed one.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from blox.backends.ends import Ends
from blox.backends.setup import BackendSetup
from blox.backends.simulation import AdjustingSimulation
from blox.optional import declared
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.state.progress import each
from blox.workloads.table import Array, JobTable


class Stages(NamedTuple):
    """A job's work on given GPUs. Per stage: the work done at its end (isolated seconds, ascending; the last
    is all of the work), the rate, and the metrics that the job then reports, by name."""

    ends: Array
    rates: Array
    reports: dict[str, Array]

    def stage_at(self, done_s: float) -> int:
        """The stage of a job that has done `done_s` of its work."""
        return min(int(self.ends.searchsorted(done_s, side="right")), len(self.ends) - 1)


class StagedModel(Protocol):
    """A performance model that knows the stages of jobs."""

    def stages(
        self, grants: Allocation, work_s: Array, cluster_state: ClusterState, job_state: JobState
    ) -> list[Stages]:
        """All stages of each job of `grants`, also those that are done already."""
        ...


class ElasticSimulation(AdjustingSimulation):
    """Jobs go through stages; a change of stage is an event, and so is the end of the last stage.

    A job that is suspended and launched on another number of GPUs at the same time is resized, which costs
    `overheads.resize_s` if that is given.
    """

    def __init__(self, setup: BackendSetup) -> None:
        super().__init__(setup)
        self._staged: StagedModel = self._performance  # type: ignore[assignment]
        self._stages: dict[int, Stages] = {}  # by row, on the GPUs where it last started or was adjusted
        self._changes = Ends()  # when a job's current stage ends; the end of the last is in `_ends`
        self._given_up: dict[int, tuple[float, int]] = {}  # by row: its last suspension, and GPU count

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        if check_jobs := declared(self._performance, "check_jobs"):
            check_jobs(jobs)
        super()._learn(jobs, rows, job_state)
        self._changes.grow(len(rows))

    def _go_on(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        self._project(grants, job_state.columns.anchor.take(grants.jobs), cluster_state, job_state)

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Moves jobs to their next stage, anchored at the time at which it began."""
        for row, at in self._changes.drain(job_state):
            stages = self._stages[row]
            done = stages.ends.item(stages.stage_at(job_state.scalars.done0[row]))
            self._checkpoints.note(job_state.one(row), at, job_state)
            progress.report(job_state, row, done, at)
            progress.set_rate(job_state, row, self._enter(row, at, job_state))

    def suspend(self, rows: Array, job_state: JobState) -> None:
        for row in rows.tolist():
            self._given_up[row] = job_state.now, job_state.scalars.held_gpus[row]

    def lose(self, rows: Array, job_state: JobState) -> Array:
        """Stops jobs as `Simulation` does; their next launch is a restart, not a resize."""
        saved = super().lose(rows, job_state)
        for row in rows.tolist():
            del self._given_up[row]
        return saved

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The earliest change of stage or end of a job."""
        end = super()._next_own_event(cluster_state, job_state)
        return min(end, self._changes.next(job_state))

    def _project(
        self, grants: Allocation, begin: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> Array:
        """Continues jobs from `begin` in their current stage; returns the rates."""
        self._check_pairs(grants, job_state)
        found = self._staged.stages(grants, self._work_s.take(grants.jobs), cluster_state, job_state)
        rates = []
        for row, start, stages in zip(grants.jobs.tolist(), each(begin), found):
            self._stages[row] = stages._replace(rates=stages.rates * self._working_share)
            rates.append(self._enter(row, start, job_state))
        return np.array(rates)

    def _enter(self, row: int, at: float, job_state: JobState) -> float:
        """Continues a job from `at` in its current stage: stores when that ends; returns the rate."""
        stages, done = self._stages[row], job_state.scalars.done0[row]
        place = stages.stage_at(done)
        rate: float = stages.rates.item(place)
        end = at + max(stages.ends.item(place) - done, 0.0) / rate
        is_last = place + 1 == len(stages.ends)
        self._ends.put_one(row, end if is_last else math.inf)
        self._changes.put_one(row, math.inf if is_last else end)
        for name, values in stages.reports.items():
            job_state.report_metric(name, row, values.item(place))
        return rate

    def _delay(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        delay = super()._delay(grants, cluster_state, job_state)
        if self._overheads.resize_s is None:
            return delay
        given_up = [self._given_up.get(row, (math.nan, 0)) for row in grants.jobs.tolist()]
        when, gpus = np.array(given_up).T
        resized = (when == job_state.now) & (gpus != grants.counts)
        return np.where(resized, self._overheads.resize_s, delay)
