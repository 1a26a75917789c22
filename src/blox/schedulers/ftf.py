from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from blox.registry import check_choices, register
from blox.schedulers.ftf_forms import smallest_max_rho, synergy_rho
from blox.schedulers.themis.apps import AppHistory, Apps
from blox.state.believed import believed_left_s, believed_s
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.state.schedule import Schedule
from blox.workloads.table import Array

NO_TIMES: Array = np.empty(0)


@dataclass
class _Shares:
    """Gavel's answer for the jobs that were there at `solved_s`, and what each had received then."""

    rows: Array = field(default_factory=lambda: NO_ROWS)
    fraction: Array = field(default_factory=lambda: NO_TIMES)
    received_s: Array = field(default_factory=lambda: NO_TIMES)
    done_s: Array = field(default_factory=lambda: NO_TIMES)
    isolated_speed: Array = field(default_factory=lambda: NO_TIMES)
    isolated_s: Array = field(default_factory=lambda: NO_TIMES)  # what that would have taken in isolation
    solved_s: float = 0.0


@register.scheduling("ftf")
@dataclass(frozen=True)
class Ftf:
    """Orders jobs by finish-time fairness, without an auction: the job furthest behind goes first.

    `form=themis`: the largest rho if given all its GPUs now, as Themis defines it (each job an app).
    `form=gavel`: the program that makes the largest rho as small as possible says for which part of the
    time each job is to run, whenever a job comes or goes; the job with the least of its part goes first.
    All GPUs count as alike; for several types there is Gavel's own policy.
    `form=synergy`: Synergy's ratio, with neither the other jobs nor the cluster in it, smallest first: the
    least delayed job, against Themis' intent (Synergy does so by mistake).
    """

    form: Literal["themis", "gavel", "synergy"] = "themis"
    strict: bool = False
    preempt: bool = True

    reads_durations: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choices(self)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        if self.form == "gavel":
            key = self._behind(job_state, cluster_state)
        elif self.form == "themis":
            history = job_state.memory(self, AppHistory)
            history.update(job_state, "job")
            apps = Apps.of(job_state, history, cluster_state.total_gpus)
            key = -apps.rho(apps.most_gpus)
        else:
            waited = job_state.now - job_state.submit_s
            total = np.maximum(believed_s(job_state, job_state.active), 1e-9)
            key = np.asarray(synergy_rho(waited, believed_left_s(job_state), total))
        return Schedule.ordered(job_state, by=key, strict=self.strict, preempt=self.preempt)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """The order changes as time passes; that does not matter while all jobs run."""
        return math.inf if job_state.running.all() else job_state.now

    def _behind(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        """The key of Gavel's rounds: the part of its time that a job got over the part it is to get."""
        told = job_state.memory(self, _Shares)
        if not np.array_equal(told.rows, job_state.active):
            self._solve(told, job_state, cluster_state)
        elapsed = job_state.now - told.solved_s
        if not elapsed:
            return -told.fraction
        return np.asarray((job_state.run_s() - told.received_s) / (elapsed * told.fraction))

    def _solve(self, told: _Shares, job_state: JobState, cluster_state: ClusterState) -> None:
        active, done = job_state.active, job_state.done_s()
        so_far = np.zeros(len(active))
        known = np.isin(active, told.rows)
        place = np.searchsorted(told.rows, active[known])
        progress = done[known] - told.done_s[place]
        so_far[known] = told.isolated_s[place] + progress / told.isolated_speed[place]
        left = np.maximum(believed_left_s(job_state), 1e-9)
        gpus = max(cluster_state.total_gpus, 1)  # with all nodes down nothing runs, whatever the order
        found = smallest_max_rho(
            gpus,
            np.minimum(job_state.gpus, gpus),
            left,
            np.ones(len(active)),
            job_state.now - job_state.submit_s,
            so_far,
        )
        told.rows, told.fraction, told.solved_s = active, found.fraction, job_state.now
        told.received_s, told.done_s = job_state.run_s(), done
        told.isolated_speed, told.isolated_s = found.isolated_speed, so_far
