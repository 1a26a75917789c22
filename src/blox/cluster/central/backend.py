"""ClusterBackend: the manager's commands become stints, and what became of stints is told to the manager."""

from __future__ import annotations

import math

import numpy as np

from blox.cluster.central.jobs import Jobs
from blox.cluster.central.nodes import Nodes
from blox.cluster.central.records import Job, Share, Stint
from blox.cluster.central.stints import Stints, outcome_of
from blox.cluster.preemption import preemption_of
from blox.cluster.protocol.messages import Outcome
from blox.cluster.protocol.timing import Timing
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import NO_ROWS, Allocation
from blox.workloads.table import Array

# What is told of a job whose processes ended although they should run.
_WHY: dict[Outcome, str] = {
    "left": "left, out of contact",
    "killed": "killed",
    "failed": "failed",
    "lost": "lost its node",
}


_MOST_METRICS = 1_000  # names, over all jobs: each is a column


class ClusterBackend:
    """The backend of a live cluster (`blox.protocols.Backend`). It waits for nothing: the shell does.

    A job's work is counted in seconds of run time. Work since its last checkpoint is lost with its processes.
    """

    exhausted = False  # more jobs may come at any time

    def __init__(self, jobs: Jobs, nodes: Nodes, stints: Stints, timing: Timing) -> None:
        self._jobs, self._nodes, self._stints, self._timing = jobs, nodes, stints, timing
        self._done: dict[
            int, float
        ] = {}  # rows whose work is done, and when: the manager has yet to learn it
        self._interrupted: list[int] = []  # rows whose processes have ended although they should run
        self.why: dict[int, str] = {}  # what interrupted a row
        self.metrics: dict[int, dict[str, float]] = {}  # by job, since the last round
        self._names: set[str] = set()  # of metrics that have been reported

    @property
    def idle(self) -> bool:
        """Whether the manager has learnt everything."""
        return not (self._done or self._interrupted or self.why)

    def settle(self, job_state: JobState, now: float) -> None:
        """At the beginning of a round: takes in how stints have ended."""
        for stint in [stint for stint in self._stints.all.values() if stint.over]:
            self._stints.remove(stint)
            self._settle_one(stint, self._jobs.all[stint.job], job_state, now)

    def _settle_one(self, stint: Stint, job: Job, job_state: JobState, now: float) -> None:
        outcome, commanded = outcome_of(stint), job.commanded == stint.epoch
        job.checkpoint = max(job.checkpoint, stint.checkpoint)
        self._jobs.touch(job)
        if job.end:
            return
        if outcome == "done":
            self._stints.drop((job.job, job.commanded))  # it was to go on elsewhere
            job.commanded = 0
            self._done[job.row] = stint.ended_s
            return
        if outcome == "failed" and not (stint.stopped and not preemption_of(job.spec.preemption).waits):
            job.failures += 1
            job.retry_s = now + self._timing.backoff(job.failures)
            if job.failures >= self._timing.attempts:
                why = stint.detail or "no reason given"
                self._jobs.condemn(job, f"failed {job.failures} times: {why}")
        if outcome == "left":
            job.saved_s = float(progress.done_s(job_state, job_state.one(job.row), now)[0])
        if commanded:
            self._interrupted.append(job.row)
            self.why[job.row] = _WHY[outcome] + (f": {stint.detail}" if stint.detail else "")
        elif outcome != "left":
            progress.report(job_state, job.row, job.saved_s, job_state.scalars.anchor[job.row])

    # -- cluster management ------------------------------------------------------------------------

    def node_events(self, now: float) -> list[NodeEvent]:
        events, self._nodes.events = self._nodes.events, []
        return [event._replace(time_s=min(event.time_s, now)) for event in events]

    # -- launch and preemption ---------------------------------------------------------------------

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        """Queues stints. Work counts from when a node says that it has started one."""
        for row, gpus in grants.as_dict().items():
            job = self._jobs.by_row[row]
            job.epoch += 1
            job.commanded = job.epoch
            self._stints.queue(Stint(job.job, job.epoch, _shares(gpus, cluster_state)))
            self._jobs.touch(job)
        return 1.0, np.full(len(grants.jobs), math.inf)

    def adjust(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Batch sizes are the jobs' own affair here."""

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """Revokes leases; a job that has a verdict is killed."""
        for row in rows.tolist():
            job = self._jobs.by_row[row]
            end = self._stints.drop if job.verdict else self._stints.stop
            end((job.job, job.commanded))
            self._release(job)

    def lose(self, rows: Array, job_state: JobState) -> Array:
        saved = []
        for row in rows.tolist():
            job = self._jobs.by_row[row]
            self._stints.drop((job.job, job.commanded))
            self._release(job)
            saved.append(job.saved_s)
        return np.array(saved)

    def _release(self, job: Job) -> None:
        job.commanded = 0
        self._jobs.touch(job)

    # -- metrics -----------------------------------------------------------------------------------

    def submit(self, job_state: JobState) -> None:
        self._jobs.enter(job_state)

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Anchors the work of jobs that have started, and notes what they have saved."""
        one = job_state.scalars
        for stint in self._stints.all.values():
            job = self._jobs.all[stint.job]
            if job.commanded != stint.epoch or stint.started_s is None:
                continue
            if one.anchor[job.row] == math.inf:
                progress.report(job_state, job.row, one.done0[job.row], stint.started_s)
            if stint.checkpoint > job.checkpoint:
                job.checkpoint = stint.checkpoint
                job.saved_s = float(progress.done_s(job_state, job_state.one(job.row), job_state.now)[0])
        reported, self.metrics = self.metrics, {}
        for number, values in reported.items():
            row = self._jobs.all[number].row
            for name, value in _measured(values).items():
                if name in self._names or len(self._names) < _MOST_METRICS:
                    self._names.add(name)
                    job_state.report_metric(name, np.array([row]), np.array([value]))

    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        if not self._done:
            return NO_ROWS, 0.0
        done, self._done = sorted(self._done.items()), {}
        since = job_state.scalars.held_since  # a stint must not end before it begins
        ends = [min(max(at, since[row]), job_state.now) for row, at in done]
        return np.array([row for row, _ in done], dtype=np.int64), np.array(ends)

    def failed(self, cluster_state: ClusterState, job_state: JobState) -> list[tuple[float, int]]:
        """Jobs whose processes ended although they should run: failed, killed, or out of contact too long."""
        rows, self._interrupted = sorted(self._interrupted), []
        return [(job_state.now, row) for row in rows]

    # -- time --------------------------------------------------------------------------------------

    def next_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        return math.inf

    def wait_until(self, time_s: float) -> float:
        return time_s

    def close(self) -> None:
        """The shell closes what there is to close."""


def _measured(values: dict[str, float]) -> dict[str, float]:
    """What a job has pushed, and the speed that its iteration time implies."""
    iteration_s = values.get("iteration_s", 0.0)
    return {"steps_per_s": 1.0 / iteration_s, **values} if iteration_s > 0 else values


def _shares(gpus: tuple[int, ...], cluster_state: ClusterState) -> list[Share]:
    """Rank by rank in order of the GPU ids; slots count from 0 on every node."""
    ranks: dict[int, list[tuple[int, int]]] = {}
    for rank, gpu in enumerate(sorted(gpus)):
        node = int(cluster_state.gpu_node[gpu])
        ranks.setdefault(node, []).append((rank, gpu - int(cluster_state.node_first[node])))
    return [
        Share(cluster_state.node_name[node], tuple(r for r, _ in held), tuple(s for _, s in held))
        for node, held in ranks.items()
    ]
