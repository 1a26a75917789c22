"""The original's progress: a round is credited at its start with whole iterations, rounded down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.backends.simulation import AdjustingSimulation
from blox.performance.sensitivity import Sensitivity
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array, JobTable


class WholeIterations(AdjustingSimulation):
    """The simulation of jobs whose rate is such that every round brings a whole number of iterations."""

    _iterations: Array = np.empty(0)  # by row
    _iteration_s: Array = np.empty(0)

    def _project(
        self, grants: Allocation, begin: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> Array | float:
        rows, round_s = grants.jobs, self._round_s
        speed = self._rates(grants, cluster_state, job_state)
        iteration_s = self._iteration_s.take(rows)
        per_round = np.maximum(np.floor(round_s / (iteration_s / speed)), 1.0)
        left = self._iterations.take(rows) - np.rint(job_state.columns.done0.take(rows) / iteration_s)
        self._ends.put(rows, begin + np.ceil(left / per_round) * round_s)
        rate: Array = per_round * iteration_s / round_s
        return rate

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        super()._learn(jobs, rows, job_state)
        iterations, iteration_s = jobs.column("iterations"), jobs.column("iteration_s")
        unknown = np.isnan(iterations) | np.isnan(iteration_s)  # those count seconds
        iteration_s = np.where(unknown, 1.0, iteration_s)
        iterations = np.where(unknown, np.maximum(np.floor(jobs.columns["duration_s"]), 1.0), iterations)
        self._iterations = np.concatenate((self._iterations, iterations))
        self._iteration_s = np.concatenate((self._iteration_s, iteration_s))


@dataclass(frozen=True)
class ByIterations(Sensitivity):
    """The speeds of `sensitivity`, credited in whole iterations."""

    simulation: ClassVar[type[WholeIterations]] = WholeIterations
