"""ElasticSimulation: the simulation of jobs whose speed changes while they run.

How far larger batches help a training job changes as it learns, so an elastic job's rate is constant for
stages of its work only. All stages of a job are laid out when it starts or is adjusted: when each begins, and
the rate in it. A round that is skipped therefore leaves the same bits behind as one that is executed.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from blox.backends.adjusting import AdjustingSimulation
from blox.backends.simulation import NONE_ENDED
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


class StagedModel(Protocol):
    """A performance model that knows the stages of jobs."""

    def stages(
        self, grants: Allocation, work_s: Array, cluster_state: ClusterState, job_state: JobState
    ) -> list[Stages]:
        """The stages of each job of `grants`, all of them, whatever is done already."""
        ...


class _Course(NamedTuple):
    """The stages that a job still goes through: when each begins (s), and the work that is done by then."""

    times: list[float]
    done: list[float]
    stages: Stages
    first: int  # the first of them, counted from the job's very first stage
    finish_s: float

    def due_s(self, place: int) -> float:
        """When the stage at this place ends: at the next one's beginning, or with the job."""
        return self.times[place + 1] if place + 1 < len(self.times) else self.finish_s


class ElasticSimulation(AdjustingSimulation):
    """Jobs go through stages; a change of stage is an event, and so is the end of the last.

    A job that comes back on another number of GPUs in the same moment is resized, which costs
    `overheads.resize_s` where that is given.
    """

    def _begin(self) -> None:
        self._staged: StagedModel = self._performance  # type: ignore[assignment]
        self._courses: dict[int, _Course] = {}
        self._place: dict[int, int] = {}  # the stage each running job is in, counted from its course's first
        self._due: dict[int, float] = {}  # when that stage ends
        self._given_up: dict[int, tuple[float, int]] = {}  # when a job was last suspended, and its GPUs
        self._next_s = math.inf  # the earliest change of stage, or end

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        if check_jobs := declared(self._performance, "check_jobs"):
            check_jobs(jobs)
        super()._learn(jobs, rows, job_state)

    def _go_on(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        self._project(grants, job_state.columns.anchor.take(grants.jobs), cluster_state, job_state)

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Anchors jobs that have come to another stage where that stage began."""
        now = job_state.now
        if now < self._next_s:
            return
        for row in sorted(row for row, due_s in self._due.items() if due_s <= now):
            course, before = self._courses[row], self._place[row]
            place = before
            while place + 1 < len(course.times) and course.times[place + 1] <= now:
                place += 1
                self._enter(row, course, place, job_state)
            if place > before:
                self._report_changes(row, course, before, place, job_state)
            self._place[row], self._due[row] = place, course.due_s(place)
        self._find_next()

    def _ended(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        if job_state.now < self._next_s:
            return NONE_ENDED
        over = sorted(row for row in self._due if self._courses[row].finish_s <= job_state.now)
        if not over:
            return NONE_ENDED
        ends = np.array([self._courses[row].finish_s for row in over])
        self._drop(over)
        return np.array(over, dtype=np.int64), ends

    def suspend(self, rows: Array, job_state: JobState) -> None:
        for row in rows.tolist():
            self._given_up[row] = job_state.now, job_state.scalars.held_gpus[row]
        self._drop(rows.tolist())

    def lose(self, rows: Array, job_state: JobState) -> Array:
        """A job that comes back after a loss restarts, on whatever number of GPUs."""
        saved = super().lose(rows, job_state)
        for row in rows.tolist():
            del self._given_up[row]
        return saved

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        return self._next_s

    def _project(
        self, grants: Allocation, begin: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> Array:
        """Lays out the stages that are left of each job from `begin` on; returns the rates of the first."""
        self._check_pairs(grants, job_state)
        found = self._staged.stages(grants, self._work_s.take(grants.jobs), cluster_state, job_state)
        if (share := self._overheads.working_share) != 1.0:
            found = [stages._replace(rates=stages.rates * share) for stages in found]
        rates = np.empty(len(found))
        for i, (row, start, stages) in enumerate(zip(grants.jobs.tolist(), each(begin), found)):
            course = self._courses[row] = _course(stages, job_state.scalars.done0[row], start)
            self._place[row], self._due[row] = 0, course.due_s(0)
            rates[i] = stages.rates[course.first]
            for name, values in stages.reports.items():
                job_state.report_metric(name, row, values.item(course.first))
        self._find_next()
        return rates

    def _enter(self, row: int, course: _Course, place: int, job_state: JobState) -> None:
        self._checkpoints.note(job_state.one(row), course.times[place], job_state)
        progress.report(job_state, row, course.done[place], course.times[place])
        progress.set_rate(job_state, row, course.stages.rates.item(course.first + place))

    def _report_changes(
        self, row: int, course: _Course, before: int, place: int, job_state: JobState
    ) -> None:
        """The job reports what differs from the stage at `before`, in which it last reported."""
        first = course.first
        for name, values in course.stages.reports.items():
            value = values.item(first + place)
            if value != values.item(first + before):
                job_state.report_metric(name, row, value)

    def _delay(self, grants: Allocation, job_state: JobState) -> Array | float:
        delay = super()._delay(grants, job_state)
        if self._overheads.resize_s is None:
            return delay
        given_up = [self._given_up.get(row, (math.nan, 0)) for row in grants.jobs.tolist()]
        resized = [
            when == job_state.now and gpus not in (0, count)
            for (when, gpus), count in zip(given_up, grants.counts.tolist())
        ]
        return np.where(resized, self._overheads.resize_s, delay)

    def _drop(self, rows: list[int]) -> None:
        for row in rows:
            self._courses.pop(row, None)
            self._place.pop(row, None)
            self._due.pop(row, None)
        self._find_next()

    def _find_next(self) -> None:
        """Finds the earliest change of stage, or end, of the running jobs."""
        self._next_s = min(self._due.values(), default=math.inf)


def _course(stages: Stages, done: float, start: float) -> _Course:
    """The stages that are left of a job which has done so much (s) and goes on at `start` (s)."""
    last = len(stages.ends) - 1
    first = min(int(np.searchsorted(stages.ends, done, side="right")), last)
    times, reached = [start], [done]
    for end, rate in zip(stages.ends[first:].tolist(), stages.rates[first:].tolist()):
        times.append(times[-1] + max(end - reached[-1], 0.0) / rate)
        reached.append(end)
    return _Course(times[:-1], reached[:-1], stages, first, times[-1])
