"""SharedSimulation: two jobs may share GPUs, and the speed of each depends on the other."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from blox.backends.ends import by_row
from blox.backends.setup import BackendSetup
from blox.backends.simulation import AdjustingSimulation
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array, JobTable


class PairModel(Protocol):
    """A performance model that knows how fast two jobs run on the same GPUs."""

    def kinds(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The kind of each job, a number: jobs of one kind have the same speeds."""
        ...

    def speeds(
        self, grants: Allocation, kinds: Array, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array, Array, Array]:
        """Per job: its rate with its partner, its rate alone on the same GPUs, its steps/s at rate 1."""
        ...


class SharedSimulation(AdjustingSimulation):
    """When one of two jobs that share GPUs ends inside a round, its partner runs alone, faster, from then on.

    Jobs report `steps_per_s`, their throughput with their partner or alone, when they start or are adjusted.
    """

    def __init__(self, setup: BackendSetup) -> None:
        super().__init__(setup)
        self._partners: dict[int, int] = {}  # row -> row of its partner, of each job that shares
        # row -> the rate that it would have alone, and its steps per second then
        self._alone: dict[int, tuple[float, float]] = {}
        self._kinds: Array = np.empty(0, dtype=np.int64)  # by row; -1: not looked up yet

    def _due(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        if not self._partners:
            return super()._due(cluster_state, job_state)
        ended = []
        for row, end in self._ends.drain(job_state):
            ended.append((row, end))
            other = self._partners.pop(row, -1)
            if self._partners.get(other) == row:
                self._run_alone(other, end, job_state)
        return by_row(ended, job_state)

    def _go_on(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        self._rates(grants, cluster_state, job_state)
        super()._go_on(grants, cluster_state, job_state)

    def _run_alone(self, row: int, from_s: float, job_state: JobState) -> None:
        """Sets the rate of a job whose partner left at `from_s` to the rate that it has alone."""
        del self._partners[row]
        rate, steps_per_s = self._alone[row]
        self._change_rates(job_state.one(row), rate, from_s, job_state)
        job_state.report_metric("steps_per_s", row, steps_per_s)

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """Stops jobs; a partner that goes on runs alone from now on."""
        stopped = rows.tolist() if self._partners else []
        stay = {self._partners[row] for row in stopped if row in self._partners}.difference(stopped)
        self._forget_partners(rows)
        for row in sorted(stay):
            self._run_alone(row, job_state.now, job_state)

    def _forget_partners(self, rows: Array) -> None:
        """Drops the partners of jobs that stop, start or are adjusted."""
        for row in rows.tolist() if self._partners else ():
            self._partners.pop(row, None)

    def _rates(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The rates of jobs that start or are adjusted; stores their partners."""
        model: PairModel = self._performance  # type: ignore[assignment]
        unknown = grants.jobs[self._kinds.take(grants.jobs) < 0]
        if len(unknown):
            self._kinds[unknown] = model.kinds(unknown, cluster_state, job_state)
        kinds = self._kinds.take(grants.jobs)
        rate, alone, base = model.speeds(grants, kinds, cluster_state, job_state)
        rate, alone = rate * self._working_share, alone * self._working_share
        job_state.report_metric("steps_per_s", grants.jobs, rate * base)
        self._forget_partners(grants.jobs)
        if grants.share_group is not None:
            found = zip(alone.tolist(), (alone * base).tolist())
            for row, other, speeds in zip(grants.jobs.tolist(), grants.share_group.tolist(), found):
                if other >= 0:
                    self._partners[row], self._alone[row] = int(other), speeds
        return rate

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        super()._learn(jobs, rows, job_state)
        self._kinds = np.concatenate((self._kinds, np.full(len(rows), -1)))
