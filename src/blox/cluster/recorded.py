"""What happened on a cluster, as a result of the same form as a simulation's.

The lives of the jobs are put through the loop again, in the rounds and by the scheduling policy of the run:
an admission that returns what was admitted when, a placement that returns what was placed when, and a backend
that says what ended when. So jobs, rounds, stints, figures and causes of waiting are worked out by the same
code.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field

import numpy as np

from blox.backends.base import BackendBase
from blox.backends.feed import JobFeed
from blox.clock import Rounds
from blox.cluster.central.life import STARTED
from blox.cluster.protocol.queries import JobView
from blox.containment import allowing, contained
from blox.experiment.prepared import Prepared
from blox.loop import run
from blox.manager import BloxManager
from blox.protocols import for_ever
from blox.results.result import Result
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation, Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_ADMITTED = "admitted"  # as the life of a job has it
_GRAIN = 1e-3  # of a round: a decision that is later than a boundary by less was made there


@dataclass
class Timeline:
    """`placed`: (time, row, GPUs) in order of time; no GPUs: it gives up what it holds. `admitted` and
    `finished`: times by row. Simulated seconds."""

    placed: list[tuple[float, int, tuple[int, ...]]] = field(default_factory=list)
    admitted: dict[int, float] = field(default_factory=dict)
    finished: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, views: list[JobView], begin_s: float, speedup: float) -> Timeline:
        """From the lives of jobs, whose rows are their places in the list; `begin_s`: the cluster's time at
        0."""
        made = cls()
        for row, view in enumerate(views):
            assert view.end_s is not None
            made.admitted[row] = made.finished[row] = (view.end_s - begin_s) * speedup
            holds = False
            for entry in view.life:
                if entry.what == STARTED:
                    continue  # it was granted before, and may have been revoked before the node said so
                at = min((entry.at_s - begin_s) * speedup, made.finished[row])
                if entry.gpus or entry.what == _ADMITTED:
                    made.admitted[row] = min(at, made.admitted[row])
                if entry.gpus or holds:
                    made.placed.append((at, row, entry.gpus))
                holds = bool(entry.gpus)
        made.placed.sort(key=lambda each: each[0])
        return made

    def in_rounds(self, round_s: float) -> Timeline:
        """The same with decisions at the boundary of their round, and no end a rounding error behind one."""

        def boundary(at: float) -> float:
            return math.ceil(at / round_s - _GRAIN) * round_s

        placed = [(boundary(at), row, gpus) for at, row, gpus in self.placed]
        admitted = {row: boundary(at) for row, at in self.admitted.items()}
        finished = {row: min(at, boundary(at)) for row, at in self.finished.items()}
        return Timeline(placed, admitted, finished)

    @property
    def times(self) -> list[float]:
        """When anything happened."""
        decided = {at for at, _, _ in self.placed} | set(self.admitted.values())
        return sorted(decided | set(self.finished.values()))


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


class RecordedAdmission:
    """Admits jobs when they were admitted."""

    def __init__(self, timeline: Timeline) -> None:
        self._admitted = timeline.admitted

    def accept(self, new_jobs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        due = [row for row in new_jobs.tolist() if self._admitted[row] <= job_state.now]
        return np.array(due, dtype=np.int64)

    stable_until = for_ever  # an admission is an event of the backend


class RecordedPlacement:
    """Puts jobs where they were."""

    def __init__(self, timeline: Timeline) -> None:
        self._placed, self._next = timeline.placed, 0
        self._held: dict[int, tuple[int, ...]] = {}

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        while self._next < len(self._placed) and self._placed[self._next][0] <= job_state.now:
            _, row, gpus = self._placed[self._next]
            self._next += 1
            if gpus:
                self._held[row] = tuple(sorted(gpus))
            else:
                self._held.pop(row, None)
        active = set(job_state.active.tolist())
        held = {row: gpus for row, gpus in self._held.items() if row in active}
        blocked = schedule.strict and len(held) < len(active)
        return Plan.diff(cluster_state.allocation, Allocation.from_dict(held), blocked=blocked)

    stable_until = for_ever  # a placement is an event of the backend


def result_of(prepared: Prepared, timeline: Timeline, timing: dict[str, float]) -> Result:
    """The result of a run on a cluster. The jobs are those of the experiment's workload, in order."""
    experiment, timeline = prepared.experiment, timeline.in_rounds(prepared.experiment.round_s)
    cluster_state, job_state = prepared.states()
    backend = RecordedBackend(prepared.setup().feed, timeline)
    manager = BloxManager(backend, Rounds(experiment.round_s), window=prepared.window)
    with contained(), allowing(experiment.policy_timeout_s):
        run(
            manager,
            cluster_state,
            job_state,
            admission=RecordedAdmission(timeline),
            scheduler=prepared.composition.scheduler,
            placement=RecordedPlacement(timeline),
        )
    return prepared.result(manager, job_state, dict(timing))
