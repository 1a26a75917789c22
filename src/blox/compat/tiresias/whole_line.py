"""The original's preemptive orders without queues: one list of jobs, sorted anew at every event.

The sort is stable and the list keeps its order from event to event, so ties follow history and not the
row number. That order is what these policies remember.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from blox.compat.tiresias.counted import Decision
from blox.compat.tiresias.tables import expected_table, index_table
from blox.protocols import for_ever
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.state.schedule import Schedule
from blox.workloads.table import Array


@dataclass
class KeptOrder:
    """Rows in order, the latest arrivals at the end; times and ranks of the policy that keeps it."""

    rows: Array = field(default_factory=lambda: NO_ROWS)
    seen: int = 0  # rows below have been taken in
    last: int = -1  # the row that arrived last
    expected: dict[int, float] = field(default_factory=dict)
    mark: int = 0  # of the next event of the policy's own
    now: float = -1.0
    unsorted: float | None = None  # when the line was last left as it was, though the original sorts it

    def update(self, job_state: JobState) -> Array:
        """Drops finished jobs and appends new ones; returns the new ones."""
        active = job_state.active
        fresh = active[active.searchsorted(self.seen) :]
        if len(self.rows) + len(fresh) != len(active):
            self.rows = self.rows[job_state.columns.status.take(self.rows) != FINISHED]
        if len(fresh):
            self.rows = np.concatenate((self.rows, fresh))
            self.last = int(fresh[-1])
            self.seen = self.last + 1
        return fresh


@dataclass(frozen=True)
class Shortest:
    """The jobs with the least left go first: run time, or run time x GPUs.

    `counted`: GPUs are merely counted. While all jobs fit, the order decides nothing, and the line is not
    sorted. The last sort left out is made up for: it decides between jobs that are equal at the next one.
    Earlier ones decide nothing: jobs that are equal at both go down at one speed, and were equal all along.
    """

    by: Literal["time", "gpu-time"] = "time"
    counted: bool = False

    reads_durations: ClassVar[bool] = True

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        line, newcomers = job_state.memory(self, KeptOrder), job_state.just_admitted
        if self.counted and _all_fit(newcomers, cluster_state, job_state):
            line.unsorted = job_state.now
            first = newcomers
            if len(newcomers) > 1:
                first = newcomers.take(self._left(newcomers, job_state, job_state.now).argsort(kind="stable"))
            return Decision(first.tolist(), []).schedule(job_state)
        line.update(job_state)
        if line.unsorted is not None:
            there = line.rows[: len(line.rows) - len(newcomers)]
            there = there.take(self._left(there, job_state, line.unsorted).argsort(kind="stable"))
            line.rows = np.concatenate((there, newcomers))
            line.unsorted = None
        line.rows = line.rows.take(self._left(line.rows, job_state, job_state.now).argsort(kind="stable"))
        return Schedule(line.rows)

    stable_until = for_ever

    def _left(self, rows: Array, job_state: JobState, now: float) -> Array:
        """What each job had left at `now`, a time since when no job has started or stopped."""
        columns = job_state.columns
        left: Array = columns.expected_s.take(rows) - progress.run_s(job_state, rows, now)
        if self.by == "gpu-time":
            left *= columns.gpus.take(rows)
        return left


def _all_fit(newcomers: Array, cluster_state: ClusterState, job_state: JobState) -> bool:
    """Whether all other jobs run, and the newcomers fit too."""
    if job_state.active_count - len(newcomers) != cluster_state.running_count:
        return False
    asked: int = sum(job_state.columns.gpus.take(newcomers).tolist())
    return asked <= cluster_state.free_gpus


@dataclass(frozen=True)
class ShortestExpected:
    """The jobs that the distribution expects to be shortest go first.

    `misplaced`: as in the original, what is worked out for a running job is written onto the job that
    arrived last; otherwise onto the job itself.
    """

    distribution: str
    misplaced: bool = True

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        line, table = job_state.memory(self, KeptOrder), expected_table(self.distribution)
        for row in line.update(job_state).tolist():
            line.expected[row] = table(0)
        runs = job_state.columns.held_gpus.take(line.rows) > 0
        running = line.rows[runs]
        if len(running):
            ran = progress.run_s(job_state, running, job_state.now).astype(np.int64).tolist()
            if self.misplaced:
                line.expected[line.last] = table(ran[-1])
            else:
                line.expected.update(zip(running.tolist(), map(table, ran)))
        keys = np.array([line.expected[row] for row in line.rows.tolist()])
        line.rows = line.rows.take(keys.argsort(kind="stable"))
        return Schedule(line.rows)

    stable_until = for_ever


@dataclass(frozen=True)
class IndexOrder:
    """The original's `gittins`: no queues, jobs by its Gittins index.

    `worst_first`: the order is the wrong way round, and a waiting job is ranked by its plain time while a
    running one is ranked by its GPU time. An event of its own is due after 3250 s, and each event puts it
    off by the time it is, so that there is rarely one.
    """

    distribution: str
    worst_first: bool = True

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        line, table = job_state.memory(self, KeptOrder), index_table(self.distribution)
        line.update(job_state)
        if job_state.now != line.now:
            line.now = job_state.now
            line.mark = (line.mark or 3250) + int(job_state.now)
        columns = job_state.columns
        service = progress.run_s(job_state, line.rows, job_state.now).astype(np.int64)
        gpus = columns.gpus.take(line.rows)
        if self.worst_first:
            gpus = np.where(columns.held_gpus.take(line.rows) > 0, gpus, 1)
        ranks = np.array([table(each) for each in (service * gpus).tolist()])
        line.rows = line.rows.take((ranks if self.worst_first else -ranks).argsort(kind="stable"))
        return Schedule(line.rows)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        return float(job_state.memory(self, KeptOrder).mark)
