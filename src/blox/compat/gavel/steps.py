"""The original's time: in a round a job does whole steps, and the round ends with the slowest of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.backends.interval import IntervalSimulation
from blox.backends.setup import BackendSetup
from blox.compat.gavel.run_state import GavelRun, Round, gavel_run
from blox.errors import BloxError
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array, JobTable

MOST_FAILURES = 5


class StepSimulation(IntervalSimulation):
    """Runs round by round. When a round ends is known when the jobs that run in it are."""

    def __init__(self, setup: BackendSetup) -> None:
        super().__init__(setup)
        assert isinstance(self._performance, Steps)
        self._round_s = self._performance.round_s
        self._running: Round | None = None
        self._since_s = 0.0
        self._failures: dict[int, int] = {}

    def submit(self, job_state: JobState) -> None:
        super().submit(job_state)
        gavel_run(job_state).no_more_jobs = self.exhausted

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """The steps of the round that has ended count, if every GPU did at least one."""
        last, self._running = self._running, None
        run = gavel_run(job_state)
        run.last = last
        if last is None:
            return
        self._since_s = last.last_s
        run.counts.busy_s += last.busy_s
        run.shared_s[last.rows[last.shared]] += (last.end_s - last.begin_s)[last.shared]
        left = run.steps_left
        rows = last.rows[last.counts]
        left[rows] -= last.steps[last.counts]
        total = run.steps[rows]
        done = (total - left[rows]) / total * self._work_s[rows]
        progress.report(job_state, rows, done, job_state.now)
        for row, end_s in zip(rows.tolist(), last.end_s[last.counts].tolist()):
            if left[row] <= 0:
                self._ends.put_one(row, end_s)
        for row in last.rows[last.counts & ~last.shared].tolist() if self._failures else ():
            self._failures.pop(row, None)
        self._fail(last.rows[~last.counts & ~last.shared], run)

    def _fail(self, rows: Array, run: GavelRun) -> None:
        """After five rounds in a row that did not count, a job is given up."""
        for row in rows.tolist():
            self._failures[row] = self._failures.get(row, 0) + 1
            if self._failures[row] >= MOST_FAILURES:
                run.dropped.add(row)

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The end of the round that begins now; what happens within it is acted on at its end."""
        held = cluster_state.allocation
        if not len(held.jobs):
            return math.inf
        self._running = self._round(held, cluster_state, job_state)
        self._busy_until_s = self._running.last_s
        return self._busy_until_s

    def _round(self, held: Allocation, cluster_state: ClusterState, job_state: JobState) -> Round:
        run, rows, now = gavel_run(job_state), held.jobs, job_state.now
        names = np.array([run.types.index(name) for name in cluster_state.gpu_types])
        at_gpu = np.cumsum(held.counts) - held.counts
        type_ = names[cluster_state.gpu_type[held.gpus[at_gpu]]]
        speed = run.alone[run.kind[rows], type_]
        partner = np.full(len(rows), -1)
        if held.share_group is not None:
            partner = _partners(rows, held.share_group)
            two = partner >= 0
            kind = run.kind[rows]
            speed[two] = run.beside[kind[two], kind[partner[two]], type_[two]]
        steps = np.minimum(np.floor(speed * self._round_s), run.steps_left[rows])
        end_s, counts = now + steps / speed, steps // held.counts > 0
        two = partner >= 0
        end_s[two] = np.maximum(end_s[two], end_s[partner[two]])
        counts[two] &= counts[partner[two]]
        return Round(rows, held.counts, steps, end_s, counts, two, self._since_s, now)

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        super()._learn(jobs, rows, job_state)
        steps = jobs.column("iterations")
        if np.isnan(steps).any():
            row = int(np.isnan(steps).argmax())
            raise BloxError(
                f"{jobs.job_named(row)} has no count of steps",
                where=jobs.place(row),
                fix="give a workload of Gavel (gavel:file.trace?throughputs=simulation_throughputs.json)",
            )
        gavel_run(job_state).enter(jobs)


def _partners(rows: Array, partner: Array) -> Array:
    """The position of each job's partner among `rows`; -1 where it has none, or where that has ended."""
    order = np.argsort(rows)
    place = order[np.minimum(np.searchsorted(rows[order], partner), len(rows) - 1)]
    found: Array = np.where(rows[place] == partner, place, -1)
    return found


@dataclass(frozen=True)
class Steps:
    """Jobs do as many steps per second as Gavel's table says, by type, alone or beside another."""

    round_s: float = 360.0

    simulation: ClassVar[type[StepSimulation]] = StepSimulation

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> float:
        """Not asked: `StepSimulation` counts steps by itself."""
        return 0.0
