"""The original's time: in a round a job does whole steps, and the round ends with the slowest of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.backends.simulation import NO_TIMES, Simulation
from blox.compat.gavel.record import Record, Round
from blox.errors import BloxError
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation
from blox.workloads.table import Array, JobTable

MOST_FAILURES = 5


class Rounds(Simulation):
    """The backend that runs round by round. The time of the next one is known when who runs is."""

    def _begin(self) -> None:
        performance = self._performance
        assert isinstance(performance, Steps)
        self._truth, self._record = performance, performance.record
        self._record.clear()
        self._running: Round | None = None
        self._since_s = 0.0
        self._failures: dict[int, int] = {}
        self._done: dict[int, float] = {}

    @property
    def dropped(self) -> set[int]:
        """Jobs that were given up."""
        return self._record.dropped

    def submit(self, job_state: JobState) -> None:
        super().submit(job_state)
        self._record.nobody_comes = self._feed.next_submission == math.inf

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """The steps of the round that has ended count, if every GPU did at least one."""
        last, self._running = self._running, None
        self._record.last = last
        if last is None:
            return
        self._since_s = last.last_s
        self._record.counts.busy_s += last.busy_s
        self._record.shared_s[last.rows[last.shared]] += (last.end_s - last.begin_s)[last.shared]
        left, columns = self._record.steps_left, job_state.columns
        rows = last.rows[last.counts]
        left[rows] -= last.steps[last.counts]
        total = self._record.steps[rows]
        columns.done0[rows] = (total - left[rows]) / total * self._work_s[rows]
        for row, end_s in zip(rows.tolist(), last.end_s[last.counts].tolist()):
            if left[row] <= 0:
                self._done[row] = end_s
        for row in last.rows[last.counts & ~last.shared].tolist() if self._failures else ():
            self._failures.pop(row, None)
        self._fail(last.rows[~last.counts & ~last.shared])

    def _fail(self, rows: Array) -> None:
        """After five rounds in a row that did not count, a job is given up."""
        for row in rows.tolist():
            self._failures[row] = self._failures.get(row, 0) + 1
            if self._failures[row] >= MOST_FAILURES:
                self._record.dropped.add(row)

    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        if not self._done:
            return NO_ROWS, NO_TIMES
        rows = sorted(self._done)
        ends = np.array([self._done.pop(row) for row in rows])
        return np.array(rows, dtype=np.int64), ends

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        return 0.0, job_state.now

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """Nothing to do: whoever holds no GPUs is in no round."""

    def next_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        held = cluster_state.allocation
        if not len(held.jobs):
            return self._feed.next_submission
        self._running = self._round(held, cluster_state, job_state)
        self._record.counts.rounds += 1
        return self._running.last_s

    def _round(self, held: Allocation, cluster_state: ClusterState, job_state: JobState) -> Round:
        record, rows, now = self._record, held.jobs, job_state.now
        names = np.array([record.types.index(name) for name in cluster_state.gpu_types])
        at_gpu = np.cumsum(held.counts) - held.counts
        type_ = names[cluster_state.gpu_type[held.gpus[at_gpu]]]
        speed = record.alone[record.kind[rows], type_]
        partner = np.full(len(rows), -1)
        if held.share_group is not None:
            partner = _partners(held.share_group)
            two = partner >= 0
            kind = record.kind[rows]
            speed[two] = record.beside[kind[two], kind[partner[two]], type_[two]]
        steps = np.minimum(np.floor(speed * self._truth.round_s), record.steps_left[rows])
        end_s, counts = now + steps / speed, steps // held.counts > 0
        two = partner >= 0
        end_s[two] = np.maximum(end_s[two], end_s[partner[two]])
        counts[two] &= counts[partner[two]]
        return Round(rows, held.counts, steps, end_s, counts, two, self._since_s, now)

    def _learn(self, jobs: JobTable, rows: Array) -> None:
        super()._learn(jobs, rows)
        steps = jobs.column("iterations")
        if np.isnan(steps).any():
            row = int(np.isnan(steps).argmax())
            raise BloxError(
                f"job {jobs.columns['job_id'][row]!r} has no count of steps",
                where=jobs.place(row),
                fix="give a workload of Gavel (gavel:file.trace?throughputs=simulation_throughputs.json)",
            )
        self._record.learn(jobs)


def _partners(group: Array) -> Array:
    """The position of the other one of each group; -1 for those alone (group -1)."""
    found = np.full(len(group), -1)
    order = np.argsort(group, kind="stable")
    same = np.flatnonzero((group[order][1:] == group[order][:-1]) & (group[order][1:] >= 0))
    found[order[same]], found[order[same + 1]] = order[same + 1], order[same]
    return found


@dataclass(frozen=True)
class Steps:
    """Jobs do as many steps per second as Gavel's table says, by type, alone or beside another."""

    record: Record
    round_s: float = 360.0

    simulation: ClassVar[Callable[..., Simulation]] = Rounds

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> float:
        """Not asked: `Rounds` counts steps by itself."""
        return 0.0
