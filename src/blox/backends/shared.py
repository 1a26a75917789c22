"""SharedSimulation: two jobs may share their GPUs, and each is as fast as the other lets it be."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from blox.backends.simulation import NO_TIMES, Simulation
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation
from blox.workloads.table import Array, JobTable


class PairModel(Protocol):
    """A performance model that knows how fast jobs are beside one another."""

    def kinds(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The number of each job's kind: jobs of one kind are alike."""
        ...

    def speeds(
        self, grants: Allocation, kinds: Array, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array, Array, Array]:
        """Of each job: its rate beside its partner, its rate alone where it is, and steps/s at rate 1."""
        ...


class SharedSimulation(Simulation):
    """When one of two jobs that share ends inside a round, the other goes on alone, faster, from then on.

    Jobs report `steps_per_s`, what they do beside whomever they are with, when they start or are adjusted.
    """

    def _begin(self) -> None:
        self._partners: dict[int, int] = {}
        self._alone: dict[int, float] = {}  # the rate of a job that shares, if it did not
        self._kinds: Array = np.empty(0, dtype=np.int64)  # by row; -1: not looked up yet

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        rows = grants.jobs
        rate = self._speeds(grants, cluster_state, job_state)
        begin = job_state.now + self._overheads.delay(rows, job_state)
        self._set_ends(rows, job_state.columns.done0.take(rows), rate, begin)
        return rate, begin

    def adjust(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Jobs go on where they are beside another partner, from now on or from the end of their launch."""
        rows = grants.jobs
        begin = progress.rebase(job_state, rows)
        rate = self._speeds(grants, cluster_state, job_state)
        progress.set_rate(job_state, rows, rate)
        self._set_ends(rows, job_state.columns.done0.take(rows), rate, begin)
        self._ends.left(len(rows))  # whoever was the next to end may end later now

    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        if not self._partners or job_state.now < self._ends.earliest:
            return super().completed(cluster_state, job_state)
        ends = self._ends.of
        running = set(cluster_state.running.tolist())
        over: dict[int, float] = {}
        while running:
            row = min(running, key=lambda each: (ends.item(each), each))
            end = ends.item(row)
            if end > job_state.now:
                break
            running.discard(row)
            over[row] = end
            other = self._partners.pop(row, -1)
            if self._partners.pop(other, -1) == row and other in running:
                begin = progress.rebase_one(job_state, other, end)
                progress.set_rate_one(job_state, other, self._alone[other])
                left = self._work_s.item(other) - job_state.scalars.done0[other]
                self._ends.put_one(other, begin + max(left, 0.0) / self._alone[other])
        self._ends.left(len(over))
        if not over:
            return NO_ROWS, NO_TIMES
        rows = np.array(sorted(over), dtype=np.int64)
        return rows, job_state.now if self._options.finish_at_boundary else ends.take(rows)

    def suspend(self, rows: Array, job_state: JobState) -> None:
        super().suspend(rows, job_state)
        for row in rows.tolist():
            self._partners.pop(row, None)

    def _set_ends(self, rows: Array, done: Array, rate: Array, begin: Array | float) -> None:
        ends = (self._work_s.take(rows) - done) / rate + begin
        self._ends.put(rows, ends)

    def _speeds(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The rates of jobs that start or are adjusted; remembers who shares with whom."""
        model: PairModel = self._performance  # type: ignore[assignment]
        kinds = self._kinds.take(grants.jobs)
        if kinds.min(initial=0) < 0:
            fresh = grants.jobs[kinds < 0]
            self._kinds[fresh] = model.kinds(fresh, cluster_state, job_state)
            kinds = self._kinds.take(grants.jobs)
        rate, alone, base = model.speeds(grants, kinds, cluster_state, job_state)
        job_state.report_metric("steps_per_s", grants.jobs, rate * base)
        partners = self._partners
        if grants.share_group is not None:
            for row, other, speed in zip(grants.jobs.tolist(), grants.share_group.tolist(), alone.tolist()):
                if other < 0:
                    partners.pop(row, None)
                else:
                    partners[row], self._alone[row] = int(other), speed
        elif partners:
            for row in grants.jobs.tolist():
                partners.pop(row, None)
        return rate

    def _learn(self, jobs: JobTable, rows: Array) -> None:
        super()._learn(jobs, rows)
        self._kinds = np.concatenate((self._kinds, np.full(len(rows), -1)))
