"""ElasticSimulation: the simulation of jobs whose speed changes while they run.

How far larger batches help a training job changes as it learns, so an elastic job's rate is constant for
stages of its work only. All of them are known when a job starts or is adjusted. Each begins where the one
before ends, whenever that is noticed, so a round that is skipped leaves the same bits behind as one that is
executed.
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
    """A job's work on given GPUs: up to where each stage goes (isolated seconds, ascending; the last is all
    of the work), the rate in it, and what the job then reports about itself, by name."""

    ends: Array
    rates: Array
    reports: dict[str, Array]

    def stage_at(self, done_s: float) -> int:
        """The stage that a job is in when it has done so much of its work."""
        return min(int(self.ends.searchsorted(done_s, side="right")), len(self.ends) - 1)


class StagedModel(Protocol):
    """A performance model that knows the stages of jobs."""

    def stages(
        self, grants: Allocation, work_s: Array, cluster_state: ClusterState, job_state: JobState
    ) -> list[Stages]:
        """The stages of each job of `grants`, all of them, whatever is done already."""
        ...


class ElasticSimulation(AdjustingSimulation):
    """Jobs go through stages; a change of stage is an event, and so is the end of the last.

    A job that comes back on another number of GPUs in the same moment is resized, which costs
    `overheads.resize_s` where that is given.
    """

    def __init__(self, setup: BackendSetup) -> None:
        super().__init__(setup)
        self._staged: StagedModel = self._performance  # type: ignore[assignment]
        self._stages: dict[int, Stages] = {}  # of each job, where it last started or was adjusted
        self._changes = Ends()  # when the stage ends that a job is in; the end of the last is in `_ends`
        self._given_up: dict[int, tuple[float, int]] = {}  # when a job was last suspended, and its GPUs

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        if check_jobs := declared(self._performance, "check_jobs"):
            check_jobs(jobs)
        super()._learn(jobs, rows, job_state)
        self._changes.grow(len(rows))

    def _go_on(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        self._project(grants, job_state.columns.anchor.take(grants.jobs), cluster_state, job_state)

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Anchors jobs that have come to another stage where that stage began."""
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
        """A job that comes back after a loss restarts, on whatever number of GPUs."""
        saved = super().lose(rows, job_state)
        for row in rows.tolist():
            del self._given_up[row]
        return saved

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The earliest change of stage, or end."""
        end = super()._next_own_event(cluster_state, job_state)
        return min(end, self._changes.next(job_state))

    def _project(
        self, grants: Allocation, begin: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> Array:
        """Jobs go on from `begin` in the stages that they have come to; returns the rates in those."""
        self._check_pairs(grants, job_state)
        found = self._staged.stages(grants, self._work_s.take(grants.jobs), cluster_state, job_state)
        rates = []
        for row, start, stages in zip(grants.jobs.tolist(), each(begin), found):
            self._stages[row] = stages._replace(rates=stages.rates * self._working_share)
            rates.append(self._enter(row, start, job_state))
        return np.array(rates)

    def _enter(self, row: int, at: float, job_state: JobState) -> float:
        """A job goes on from `at` in the stage that it has come to: notes its end; returns its rate."""
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

    def _delay(self, grants: Allocation, job_state: JobState) -> Array | float:
        delay = super()._delay(grants, job_state)
        if self._overheads.resize_s is None:
            return delay
        given_up = [self._given_up.get(row, (math.nan, 0)) for row in grants.jobs.tolist()]
        when, gpus = np.array(given_up).T
        resized = (when == job_state.now) & (gpus != grants.counts)
        return np.where(resized, self._overheads.resize_s, delay)
