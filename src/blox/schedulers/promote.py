from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from blox.errors import BloxError
from blox.protocols import Promise, SchedulingPolicy, promise_of
from blox.registry import build, register
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.state.line import Line
from blox.state.plan import NO_ROWS
from blox.state.schedule import Schedule
from blox.workloads.table import Array


@register.scheduling("promote")
@dataclass(frozen=True)
class Promote:
    """Wraps another policy: a job that has waited for `after_s` goes to the front for good.

    Waiting counts from when the job last held GPUs, or was admitted. `policy` is the other policy's spec
    with `;` for `,`, as in `promote:policy=las:by=time;strict=true,after_s=86400`, or a file's:
    `promote:policy=./mine.py:Mine:k=2,after_s=86400`. `lag_s` starts the count later for jobs that were
    preempted (the original Blox: one round).
    """

    policy: str = "las"
    after_s: float = 3_600_000.0
    lag_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.after_s < math.inf or self.lag_s < 0:
            raise BloxError(
                f"after_s is {self.after_s!r}, lag_s is {self.lag_s!r}",
                fix="after_s must be above 0, lag_s 0 or more",
            )
        _ = self.wraps  # a spec that names no policy is told now

    @cached_property
    def wraps(self) -> SchedulingPolicy:
        policy: SchedulingPolicy = build("scheduling", self.policy.replace(";", ","))
        return policy

    @cached_property
    def _promise(self) -> Promise:
        return promise_of(self.wraps)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        schedule = self.wraps.schedule(job_state, cluster_state)
        memory = job_state.memory(self, _Promoted)
        jobs = schedule.jobs
        if job_state.now >= memory.look_again_s:
            due = self._due(job_state, jobs)
            late = due <= job_state.now
            memory.rows = np.union1d(memory.rows, jobs[late])
            # A job that begins to wait from now on is not due before now + after_s.
            memory.look_again_s = float(due[~late].min(initial=job_state.now + self.after_s))
        if len(memory.rows):
            memory.rows = memory.rows[job_state.columns.status.take(memory.rows) != FINISHED]
        if not len(memory.rows):
            return schedule
        behind = np.ones(job_state.submitted, dtype=bool)
        behind[memory.rows] = False
        return replace(schedule, line=Line(jobs, (behind.take(jobs), *schedule.keys)))

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        own = job_state.memory(self, _Promoted).look_again_s
        return min(own, self._promise(job_state, cluster_state))

    def _due(self, job_state: JobState, jobs: Array) -> Array:
        """When each job is promoted if it goes on waiting; inf for those that run."""
        columns = job_state.columns
        first_start = columns.first_start_s[jobs]
        due = columns.held_since[jobs] + self.after_s
        due[first_start == first_start] += self.lag_s
        due[columns.held_gpus[jobs] > 0] = math.inf
        return due


@dataclass
class _Promoted:
    rows: Array = field(default_factory=lambda: NO_ROWS)
    look_again_s: float = -math.inf

    def renumber(self, rows: Array, before: JobState) -> None:
        """Row r is now `rows[r]`; -1: forgotten (a cluster forgets jobs that ended long ago)."""
        now = rows.take(self.rows)
        self.rows = now[now >= 0]
