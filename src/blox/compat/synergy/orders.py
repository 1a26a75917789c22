"""The original's orders: one list that keeps its order between rounds, sorted again at each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from blox.compat.synergy.demands import Demands
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.state.schedule import Schedule
from blox.workloads.table import Array

Name = Literal["FIFO", "SRTF", "LAS", "FTF"]
STARVED_S = 1000 * 3600.0


@dataclass
class _Line:
    rows: Array = field(default_factory=lambda: NO_ROWS)
    seen: int = 0
    demands: Demands = field(default_factory=Demands)
    starved: Array = field(default_factory=lambda: NO_ROWS)  # ascending


@dataclass(frozen=True)
class Order:
    """Every active job by the original's key, then by arrival; ties as they stood in the round before.

    SRTF and FTF reckon with the speed that a job had in the round before (`stale_speed`; without it: with
    its best), 1 for all if `fair`. FTF takes the smallest ratio first (`least_delayed`): the
    least delayed job; without it, the most delayed. Except in FIFO, a job that has not run for more than
    1,000 h goes before all others from the next round on, for good (`starved_first`).
    """

    name: Name = "FIFO"
    fair: bool = False
    stale_speed: bool = True
    least_delayed: bool = True
    starved_first: bool = True

    @property
    def reads_durations(self) -> bool:
        """SRTF and FTF reckon with the iterations that jobs have left."""
        return self.name in ("SRTF", "FTF")

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        if self.name == "FIFO":
            return Schedule(job_state.active)
        line = job_state.memory(self, _Line)
        rows = self._present(line, job_state)
        columns = job_state.columns
        arrival = columns.submit_s.take(rows)
        if self.name == "LAS":
            key = progress.gpu_seconds(job_state, rows, job_state.now)
        else:
            key = self._time_left(rows, line, job_state, cluster_state)
            if self.name == "FTF":
                iterations, iteration_s = _work(rows, job_state)
                total = iterations * iteration_s
                key = (job_state.now - arrival + key) / total
                key = key if self.least_delayed else -key
        waits = ~np.isin(rows, line.starved)
        line.rows = rows[np.lexsort((arrival, key, waits))]
        if self.starved_first and job_state.now > STARVED_S:
            self._note_starved(line, job_state)
        return Schedule(line.rows)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """FIFO does not change its mind. In the others' lists every round leaves its traces."""
        return math.inf if self.name == "FIFO" else job_state.now

    def _note_starved(self, line: _Line, job_state: JobState) -> None:
        columns, rows = job_state.columns, line.rows
        never_ran = np.isnan(columns.first_start_s.take(rows))
        last_ran = np.where(never_ran, columns.submit_s.take(rows), columns.held_since.take(rows))
        late = (columns.held_gpus.take(rows) == 0) & (job_state.now - last_ran > STARVED_S)
        line.starved = np.union1d(line.starved, rows[late])

    def _present(self, line: _Line, job_state: JobState) -> Array:
        """The list without finished jobs, with new jobs appended."""
        active = job_state.active
        old = line.rows[np.isin(line.rows, active, assume_unique=True)]
        fresh = active[active.searchsorted(line.seen) :]
        line.seen = max(line.seen, int(active[-1]) + 1) if len(active) else line.seen
        return np.concatenate((old, fresh))

    def _time_left(self, rows: Array, line: _Line, job_state: JobState, cluster_state: ClusterState) -> Array:
        iterations, iteration_s = _work(rows, job_state)
        left = iterations - np.rint(progress.done_s(job_state, rows, job_state.now) / iteration_s)
        if self.fair:
            return np.asarray(left * iteration_s)
        demands = line.demands.update(job_state, cluster_state)
        speed = np.array([demands.of_row[row].speed for row in rows.tolist()])
        allocation = cluster_state.allocation
        if self.stale_speed and allocation.cpu is not None:
            wanted = np.array([demands.of_row[row].cpu for row in allocation.jobs.tolist()])
            slowed = allocation.jobs[allocation.cpu < wanted]
            speed[np.isin(rows, slowed, assume_unique=True)] = 1.0
        return np.asarray(left * iteration_s / speed)


def _work(rows: Array, job_state: JobState) -> tuple[Array, Array]:
    """Iterations and seconds per iteration; seconds are counted where a trace does not say."""
    columns = job_state.columns
    iterations, iteration_s = columns.iterations.take(rows), columns.iteration_s.take(rows)
    unknown = np.isnan(iterations) | np.isnan(iteration_s)
    if not unknown.any():
        return iterations, iteration_s
    seconds = np.maximum(np.floor(columns.expected_s.take(rows)), 1.0)
    return np.where(unknown, seconds, iterations), np.where(unknown, 1.0, iteration_s)
