"""GradedSimulation: jobs keep their GPUs while what they have beside them, and so their speed, changes."""

from __future__ import annotations

import numpy as np

from blox.backends.simulation import Simulation
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array, JobTable


class GradedSimulation(Simulation):
    """The simulation with adjustments, and with whole iterations per round where the options say so."""

    _iterations: Array = np.empty(0)  # by row, with whole iterations only
    _iteration_s: Array = np.empty(0)

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        if not self._options.whole_iterations:
            return super().launch(grants, cluster_state, job_state)
        rate = self._whole_iterations(grants, cluster_state, job_state)
        return rate, job_state.now

    def adjust(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Jobs go on where they are at another speed, from now on or from the end of their launch."""
        rows = grants.jobs
        begin = progress.rebase(job_state, rows)
        if self._options.whole_iterations:
            progress.set_rate(job_state, rows, self._whole_iterations(grants, cluster_state, job_state))
        else:
            rate = self._performance.rate(grants, cluster_state, job_state)
            progress.set_rate(job_state, rows, rate)
            self._ends.put(
                rows, begin + (self._work_s.take(rows) - job_state.columns.done0.take(rows)) / rate
            )
        self._ends.left(len(rows))  # whoever was the next to end may end later now

    def _whole_iterations(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> Array:
        """The rate at which every round brings so many whole iterations, and none is left in between."""
        rows, round_s = grants.jobs, self._round_s
        speed = np.broadcast_to(
            np.asarray(self._performance.rate(grants, cluster_state, job_state), dtype=np.float64), len(rows)
        )
        iteration_s = self._iteration_s.take(rows)
        per_round = np.maximum(np.floor(round_s / (iteration_s / speed)), 1.0)
        left = self._iterations.take(rows) - np.rint(job_state.columns.done0.take(rows) / iteration_s)
        self._ends.put(rows, job_state.now + np.ceil(left / per_round) * round_s)
        rate: Array = per_round * iteration_s / round_s
        return rate

    def _learn(self, jobs: JobTable, rows: Array) -> None:
        super()._learn(jobs, rows)
        if not self._options.whole_iterations:
            return
        iterations, iteration_s = jobs.column("iterations"), jobs.column("iteration_s")
        unknown = np.isnan(iterations) | np.isnan(iteration_s)  # those count seconds
        iteration_s = np.where(unknown, 1.0, iteration_s)
        iterations = np.where(unknown, np.maximum(np.floor(jobs.columns["duration_s"]), 1.0), iterations)
        self._iterations = np.concatenate((self._iterations, iterations))
        self._iteration_s = np.concatenate((self._iteration_s, iteration_s))
