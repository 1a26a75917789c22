"""What happened on a cluster, as a result of the same form as a simulation's.

The lives of the jobs are put through the loop again: a placement that returns what was placed when, and a
backend that says what ended when. So jobs, rounds, stints and figures are worked out by the same code.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field

import numpy as np

from blox.admission_control.accept_all import AcceptAll
from blox.backends.base import BackendBase
from blox.backends.feed import JobFeed
from blox.clock import Events
from blox.cluster.central.life import STARTED
from blox.cluster.protocol.queries import JobView
from blox.experiment.prepared import Prepared
from blox.loop import run
from blox.manager import BloxManager
from blox.recording.recorder import Recorder
from blox.results.result import Result
from blox.schedulers.fifo import Fifo
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation
from blox.state.schedule import Schedule
from blox.workloads.table import Array


@dataclass
class Timeline:
    """`placed`: (time, row, GPUs) in order of time; no GPUs: it gives up what it holds. Simulated seconds."""

    placed: list[tuple[float, int, tuple[int, ...]]] = field(default_factory=list)
    finished: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, views: list[JobView], begin_s: float, speedup: float) -> Timeline:
        """From the lives of jobs, whose rows are their places in the list; `begin_s`: the cluster's time at
        0."""
        made = cls()
        for row, view in enumerate(views):
            assert view.end_s is not None
            made.finished[row] = (view.end_s - begin_s) * speedup
            holds = False
            for entry in view.life:
                if entry.what == STARTED:
                    continue  # it was granted before, and may have been revoked before the node said so
                if entry.gpus or holds:
                    at = min((entry.at_s - begin_s) * speedup, made.finished[row])
                    made.placed.append((at, row, entry.gpus))
                holds = bool(entry.gpus)
        made.placed.sort(key=lambda each: each[0])
        return made

    @property
    def times(self) -> list[float]:
        """When anything happened."""
        return sorted({at for at, _, _ in self.placed} | set(self.finished.values()))


class RecordedBackend(BackendBase):
    """Says when jobs ended."""

    def __init__(self, feed: JobFeed, timeline: Timeline) -> None:
        super().__init__(feed)
        self._times = timeline.times
        self._ends = sorted((at, row) for row, at in timeline.finished.items())

    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        due = bisect.bisect_right(self._ends, (job_state.now, math.inf))
        ended, self._ends = self._ends[:due], self._ends[due:]
        if not ended:
            return NO_ROWS, 0.0
        rows = sorted((row, at) for at, row in ended)
        return np.array([row for row, _ in rows]), np.array([at for _, at in rows])

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        return 1.0, job_state.now

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """It has happened."""

    def wait_until(self, time_s: float) -> float:
        return time_s

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        at = bisect.bisect_right(self._times, job_state.now)
        return self._times[at] if at < len(self._times) else math.inf


class RecordedPlacement:
    """Puts jobs where they were."""

    def __init__(self, timeline: Timeline) -> None:
        self._placed, self._next = timeline.placed, 0
        self._held: dict[int, tuple[int, ...]] = {}

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Allocation:
        while self._next < len(self._placed) and self._placed[self._next][0] <= job_state.now:
            _, row, gpus = self._placed[self._next]
            self._next += 1
            if gpus:
                self._held[row] = tuple(sorted(gpus))
            else:
                self._held.pop(row, None)
        active = set(job_state.active.tolist())
        return Allocation.from_dict({row: gpus for row, gpus in self._held.items() if row in active})


def result_of(prepared: Prepared, timeline: Timeline, timing: dict[str, float]) -> Result:
    """The result of a run on a cluster. The jobs are those of the experiment's workload, in order."""
    cluster_state, job_state = prepared.states()
    backend = RecordedBackend(prepared.setup().feed, timeline)
    manager = BloxManager(backend, Events(), window=prepared.window, recorder=Recorder())
    run(
        manager,
        cluster_state,
        job_state,
        admission=AcceptAll(),
        scheduler=Fifo(),
        placement=RecordedPlacement(timeline),
    )
    return prepared.result(manager, job_state, dict(timing))
