"""Processes: the same loop and policies over real child processes, in real time that is scaled.

One child per job, whatever its GPUs, which are slots here: a job does nothing but count its active time.
Launches, signals, deaths and lateness are real, so this tests the backend protocol as a cluster would. How
fast jobs would run on other GPUs, and what a launch costs there, is not imitated: performance models and
overheads belong to the simulation.

Simulated time is real time since the first launch or wait, times `speedup`. `wait_until` returns the time
that was asked for, unless it is more than a tenth of a real second late; then it returns the actual time.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from blox.backends.base import BackendBase
from blox.backends.children import Child, Children
from blox.backends.feed import JobFeed
from blox.backends.job_process import FINISHED
from blox.backends.setup import BackendSetup
from blox.errors import BloxError
from blox.registry import register
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED as JOB_FINISHED
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation
from blox.workloads.table import Array

_LATE_S = 0.1  # tolerated lateness of a wake-up or a launch, in real seconds
_TIE_S = 0.01  # a completion up to this long after a wake-up counts as at it (real s): signals lose time


class Processes(BackendBase):
    """The backend that runs jobs as child processes of this machine.

    A suspended job has stopped and reported its progress before its GPUs are given to another, so no launch
    waits for GPUs that drain. A child that dies is started again in place from its last report (at most half
    a real second old); the open metric `restarts` counts that.
    """

    def __init__(self, feed: JobFeed, speedup: float) -> None:
        super().__init__(feed)
        self._speedup = speedup
        self._children = Children()
        self._origin: float | None = None  # the monotonic clock at simulated time 0

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Takes over the progress that children reported; ends children whose jobs were ended early."""
        self._children.listen(0.0)
        for child in self._children.running():
            progress.report_one(job_state, child.row, child.done_s * self._speedup, self._simulated(child.at))
            if child.restarts:
                job_state.report_metric("restarts", np.array([child.row]), np.array([float(child.restarts)]))
        for child in self._children.suspended():
            if job_state.columns.status[child.row] == JOB_FINISHED:
                self._children.forget(child.row)

    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array]:
        """Jobs that reported their end; one that was suspended in the same moment may be among them."""
        latest = job_state.now + _TIE_S * self._speedup
        done = {child.row: self._simulated(child.due) for child in self._children.finished()}
        rows = sorted(row for row, finish_s in done.items() if finish_s <= latest)
        if not rows:
            return NO_ROWS, np.empty(0)
        for row in rows:
            self._children.forget(row)
        return np.array(rows, dtype=np.int64), np.array([min(done[row], job_state.now) for row in rows])

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        """Starts or resumes children; work counts from now, or from the real start if that is late."""
        anchors = []
        for row in grants.jobs.tolist():
            begin, instant = self._real(job_state.now), time.monotonic()
            if instant - begin > _LATE_S:
                begin = instant
            child = self._children.run(row, float(self._work_s[row]) / self._speedup, begin)
            if child.state == FINISHED:
                # It finished when it was stopped to move. A stint must not end before it begins.
                child.at = max(child.at, begin)
            anchors.append(max(job_state.now, self._simulated(begin)))
        return 1.0, np.array(anchors)

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """Stops children and banks the progress that they measured."""
        for child in self._children.suspend(rows.tolist()):
            progress.report_one(job_state, child.row, child.done_s * self._speedup, job_state.now)

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The first time at which any child can have finished: never too late."""
        due = [child.due for child in self._unreported()]
        due += [child.due for child in self._children.finished()]
        return self._simulated(min(due)) if due else float("inf")

    def wait_until(self, time_s: float) -> float:
        """Sleeps until `time_s`, and receives the reports of children that are due by then."""
        instant = self._real(time_s)
        while (left := instant - time.monotonic()) > 0:
            self._children.listen(left)
        while any(child.due <= instant + _TIE_S for child in self._unreported()):
            left = instant + _LATE_S - time.monotonic()
            if left <= 0:
                break
            self._children.listen(left)
        now = time.monotonic()
        return time_s if now - instant <= _LATE_S else max(time_s, self._simulated(now))

    def close(self) -> None:
        self._children.close()

    def _unreported(self) -> list[Child]:
        return [child for child in self._children.running() if child.state != FINISHED]

    def _real(self, time_s: float) -> float:
        """`time_s` on the monotonic clock. Simulated time starts at the first call."""
        if self._origin is None:
            self._origin = time.monotonic()
        return self._origin + time_s / self._speedup

    def _simulated(self, instant: float) -> float:
        assert self._origin is not None
        return (instant - self._origin) * self._speedup


@register.backend("process")
@dataclass(frozen=True)
class ProcessBackend:
    """Runs every job as a child process of this machine, in real time, `speedup` times as fast."""

    speedup: float = 60.0

    def __post_init__(self) -> None:
        if not 0 < self.speedup < math.inf:
            raise BloxError(f"speedup is {self.speedup!r}", where="speedup", fix="give a number above 0")

    def open(self, setup: BackendSetup) -> Processes:
        return Processes(setup.feed, self.speedup)
