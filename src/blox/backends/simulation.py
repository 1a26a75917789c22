"""Simulation: time jumps from event to event, and jobs progress at the rates of the true performance model.

The true durations, speeds and overheads are known here only. Policies see beliefs in JobState.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from blox.backends.base import BackendBase
from blox.backends.ends import Ends
from blox.backends.setup import BackendSetup
from blox.backends.whole_rounds import whole_round_work_s
from blox.failures.checkpoints import Checkpoints
from blox.foreign import is_foreign, watched_part
from blox.optional import declared
from blox.performance.rates import check_alone, check_rates
from blox.registry import register
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.columns import SCALAR_MAX
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.state.progress import each
from blox.workloads.table import Array, JobTable


class Simulation(BackendBase):
    """The backend that computes what would have happened, exactly and at once.

    A subclass changes how fast jobs run (`_rates`, `_project`), what a launch costs (`_delay`) or which jobs
    have ended (`_due`, `_next_own_event`).
    """

    def __init__(self, setup: BackendSetup) -> None:
        super().__init__(setup.feed, setup.node_events, setup.job_failures)
        self._performance, self._of_a_user = watched_part(setup.performance), is_foreign(setup.performance)
        self._overheads, self._options, self._round_s = setup.overheads, setup.options, setup.round_s
        self._working_share = setup.overheads.working_share
        self._checkpoints = Checkpoints(setup.overheads)
        self._work_s: Array = np.empty(0)  # by row: true isolated seconds
        self._ends = Ends()

    def resume(self, jobs: JobTable, cluster_state: ClusterState, job_state: JobState) -> None:
        """Continues from states produced by another backend; call it once, before any other method.

        `jobs`: the jobs submitted so far, by row, with their assumed durations. Running jobs keep their GPUs,
        their progress and their rates.
        """
        self._feed.note(jobs)
        self._learn(jobs, np.arange(len(jobs)), job_state)
        self._go_on(cluster_state.allocation, cluster_state, job_state)

    def _go_on(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Stores the end times of jobs that already run."""
        c, rows = job_state.columns, grants.jobs
        self._note_ends(rows, c.rate[rows], c.anchor[rows], job_state)

    @final
    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        rows, at = self._due(cluster_state, job_state)
        return rows, job_state.now if self._options.finish_at_boundary else at

    def _due(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        """The running jobs whose work is done by now, ascending, and the time at which it was done."""
        return self._ends.due(job_state)

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        begin = job_state.now + self._delay(grants, cluster_state, job_state)
        return self._project(grants, begin, cluster_state, job_state), begin

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """Does nothing: a job that holds no GPUs does not progress."""

    def lose(self, rows: Array, job_state: JobState) -> Array:
        """Stops jobs; the work that each did since its last checkpoint is lost."""
        saved = self._checkpoints.saved_s(rows, job_state.now, job_state)
        self.suspend(rows, job_state)
        return saved

    def wait_until(self, time_s: float) -> float:
        return time_s

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        return self._ends.next(job_state)

    def _delay(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        """Seconds during which jobs that start now make no progress."""
        return self._overheads.delay(grants.jobs, job_state)

    def _project(
        self, grants: Allocation, begin: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> Array | float:
        """Runs jobs on these grants from `begin` (s) on: stores their end times; returns their rates."""
        rate = self._rates(grants, cluster_state, job_state)
        self._note_ends(grants.jobs, rate, begin, job_state)
        return rate

    def _rates(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        """Isolated seconds of work per second: one value per job, or one for all."""
        if grants.share_group is not None:
            self._check_pairs(grants, job_state)
        rate = self._performance.rate(grants, cluster_state, job_state)
        if self._of_a_user:
            check_rates(rate, self._performance, grants, job_state)
        return rate * self._working_share

    def _check_pairs(self, grants: Allocation, job_state: JobState) -> None:
        """Refuses jobs that share GPUs: this model does not know their speed together."""
        check_alone(self._performance, grants, job_state)

    def _note_ends(self, rows: Array, rate: Array | float, begin: Array | float, job_state: JobState) -> None:
        """Stores the end times of jobs that do their remaining work from `begin` on, at constant rates."""
        if len(rows) <= SCALAR_MAX:
            work_s, done0, ends = self._work_s.item, job_state.scalars.done0, self._ends
            for row, speed, start in zip(rows.tolist(), each(rate), each(begin)):
                ends.put_one(row, (work_s(row) - done0[row]) / speed + start if speed else math.inf)
            return
        self._ends.put(rows, progress.ends_s(job_state, rows, self._work_s[rows], rate, begin))

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        work_s = jobs.columns["duration_s"]
        if self._options.whole_round_credit:
            work_s = whole_round_work_s(jobs, self._round_s, self._options.credit_factor)
        self._work_s = np.concatenate((self._work_s, work_s))
        self._ends.grow(len(rows))


class AdjustingSimulation(Simulation):
    """The simulation of jobs whose rates change while they run: by `adjust`, or by themselves."""

    def adjust(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Changes the rate of jobs on their present GPUs, from now on or from the end of their launch."""
        begin = self._rebase(grants.jobs, job_state.now, job_state)
        progress.set_rate(job_state, grants.jobs, self._project(grants, begin, cluster_state, job_state))

    def _change_rates(self, rows: Array, rate: Array | float, at: float, job_state: JobState) -> None:
        """Running jobs go on at these rates (isolated seconds of work per second) from `at` (s) on.

        Call it in `collect` with the time of the change, which `_next_own_event` has named: it is past when
        the change falls inside a round. A job that has ended by then stays as it is; one that is launching
        begins at its new rate.
        """
        go_on = self._ends.after(rows, at)
        rows, rate = rows[go_on], np.broadcast_to(rate, len(rows))[go_on]
        begin = self._rebase(rows, at, job_state)
        progress.set_rate(job_state, rows, rate)
        self._note_ends(rows, rate, begin, job_state)

    def _rebase(self, rows: Array, at: float, job_state: JobState) -> Array:
        """Jobs are about to change their rates at `at` (s): keeps what they have done and saved by then.

        Returns when each goes on (s): at `at`, or at the end of its launch.
        """
        self._checkpoints.note(rows, at, job_state)
        return progress.rebase(job_state, rows, at)


@register.backend("simulation")
@dataclass(frozen=True)
class SimulationBackend:
    """Computes what would happen: time jumps from event to event, and runs repeat to the byte."""

    def open(self, setup: BackendSetup) -> Simulation:
        # A performance model whose rates change while a job runs names the simulation that supports it.
        kind: type[Simulation] = declared(setup.performance, "simulation") or Simulation
        return kind(setup)
