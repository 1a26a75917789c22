"""look_ahead(): what would happen from here on, by the loop itself, on a fork of the two states.

The fork is taken over by a simulation of its own, so the state may be that of a simulation or of a cluster.
Nodes change ahead as is known when it begins (`ClusterState.node_events_ahead`): nothing else fails, and no
job comes but those that are given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from blox.backends.feed import JobFeed
from blox.backends.setup import BackendSetup
from blox.backends.simulation import Simulation, SimulationBackend
from blox.clock import Clock
from blox.failures.log import FailureLog
from blox.failures.node_events import ListedNodeEvents
from blox.job_reports.reporting import JobReports, reporting
from blox.loop import execute_round, run
from blox.manager import BloxManager
from blox.options import SimulationOptions
from blox.performance.overheads import Overheads
from blox.performance.rates import PerformanceModel
from blox.protocols import AdmissionPolicy, PlacementPolicy, SchedulingPolicy, TerminationPolicy
from blox.recording.decisions import DecisionTrace
from blox.recording.recorder import Recorder
from blox.recording.wait_reasons import WaitReasons
from blox.state.cluster import ClusterState
from blox.state.columns import SUBMISSION
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import Plan
from blox.workloads.table import Array, JobTable


@dataclass(frozen=True)
class Policies:
    """The three parts that decide."""

    admission: AdmissionPolicy
    scheduler: SchedulingPolicy
    placement: PlacementPolicy


@dataclass(frozen=True)
class Conditions:
    """What holds ahead, whichever policies decide: how fast jobs run, what starting costs, when jobs end.

    `reports`: what jobs report ahead; None: nothing new.
    """

    performance: PerformanceModel
    overheads: Overheads
    clock: Clock
    termination: TerminationPolicy
    round_s: float = 300.0
    reports: JobReports | None = None


@dataclass(frozen=True)
class Believed:
    """What is taken for the work of every job submitted so far, by row (s in isolation).

    `expected_s` is what policies see ahead where they read durations; None: what they see now.
    """

    work_s: Array
    expected_s: Array | None = None


@dataclass(frozen=True)
class Ahead:
    """The states at the end of a look ahead, and what was recorded on the way.

    `rows` are the jobs that were present at its beginning or came since, `work_s` the work that each job was
    taken to have, by row. `truncated`: some have not finished,
    because it ended before, or because nothing would change any more.
    """

    cluster_state: ClusterState
    job_state: JobState
    manager: BloxManager = field(repr=False)
    rows: Array = field(repr=False)
    work_s: Array = field(repr=False)
    begin_s: float
    end_s: float

    @property
    def truncated(self) -> bool:
        return self.manager.truncated


def look_ahead(
    cluster_state: ClusterState,
    job_state: JobState,
    policies: Policies,
    conditions: Conditions,
    believed: Believed,
    *,
    arrivals: Iterable[JobTable] = (),
    until_s: float = math.inf,
    until: Callable[[JobState], bool] | None = None,
    jobs_alone: bool = False,
) -> Ahead:
    """Runs the loop on a fork from `job_state.now` until its jobs are done, `until_s`, or `until` holds.

    Call it where policies decide: when jobs that are done have been pruned and new ones have joined the wait
    queue. `arrivals` are jobs to come, submitted at `job_state.now` or later. `jobs_alone`: figures of jobs
    are wanted and no others, so that rounds, stints and causes of waiting are not recorded.
    """
    begin_s = job_state.now
    cluster, jobs = cluster_state.fork(), job_state.fork()
    feed = JobFeed(iter(arrivals), cluster.spec.total_gpus, lambda jobs: jobs)
    recorder = _EndReasons() if jobs_alone else None
    manager = _resumed(feed, cluster, jobs, conditions, believed, recorder)
    present = np.concatenate((jobs.waiting, jobs.active))
    run(
        manager,
        cluster,
        jobs,
        admission=policies.admission,
        scheduler=policies.scheduler,
        placement=policies.placement,
        on_round=_stop_at(manager, cluster, until_s, until),
        note_reasons=not jobs_alone,
    )
    rows = np.concatenate((np.sort(present), np.arange(job_state.submitted, jobs.submitted)))
    return Ahead(cluster, jobs, manager, rows, feed.duration_s, begin_s, _end_s(manager, jobs, rows))


def decide_next(
    cluster_state: ClusterState,
    job_state: JobState,
    policies: Policies,
    conditions: Conditions,
    believed: Believed,
) -> dict[str, Array]:
    """What the policies would decide if they were asked at `job_state.now`, job by job.

    One round on a fork; the columns are those of `blox.recording.decisions`.
    """
    cluster, jobs = cluster_state.fork(), job_state.fork()
    feed = JobFeed(iter(()), cluster.spec.total_gpus, lambda jobs: jobs)
    manager = _resumed(feed, cluster, jobs, conditions, believed)
    parts, trace = (policies.admission, policies.scheduler, policies.placement), DecisionTrace()
    execute_round(manager, cluster, jobs, *parts, WaitReasons(manager.recorder, *parts, trace))
    return trace.table()


def _resumed(
    feed: JobFeed,
    cluster: ClusterState,
    jobs: JobState,
    conditions: Conditions,
    believed: Believed,
    recorder: Recorder | None = None,
) -> _AheadManager:
    """A manager of its own for forked states, over a simulation that takes beliefs for the work of jobs."""
    if believed.expected_s is not None:
        jobs.columns.expected_s[:] = believed.expected_s
    known = cluster.node_events_ahead(jobs)
    cluster.node_events_ahead = partial(_after_now, known)  # a look ahead from there learns nothing new
    backend = _simulation(conditions, feed, known)
    backend.resume(_table(jobs, believed.work_s), cluster, jobs)
    manager = _AheadManager(
        reporting(backend, conditions.reports, feed),
        conditions.clock,
        termination=conditions.termination,
        recorder=recorder,
    )
    manager.now = jobs.now
    manager.recorder.resume(cluster, jobs)
    manager.recorder.failures = _node_log(cluster, jobs.now)
    return manager


def _node_log(cluster: ClusterState, now: float) -> FailureLog:
    """A log that begins with the nodes that are down now."""
    log = FailureLog()
    for node in np.flatnonzero(~(cluster.node_up | cluster.node_draining)).tolist():
        log.node_changed(NodeEvent(now, node, "down"))
    return log


_PATIENCE = 1000  # idle rounds, with nothing to come, in which a policy may still start a job


class _EndReasons(Recorder):
    """Records why jobs ended before their work was done, and nothing else."""

    def resume(self, cluster_state: ClusterState, job_state: JobState) -> None:
        pass

    def finished(self, rows: Array, at: Array | float, was_running: Array | None) -> None:
        pass

    def admitted(self, rows: Array, now: float) -> None:
        pass

    def evicted(self, rows: Array, at: float, now: float, event: NodeEvent | None) -> None:
        pass

    def changed(self, plan: Plan, cluster_state: ClusterState, job_state: JobState) -> None:
        pass

    def round(self, cluster_state: ClusterState, job_state: JobState) -> None:
        pass


class _AheadManager(BloxManager):
    """Ends where nothing would change any more: jobs that nothing runs have not finished ahead."""

    most_idle_events = math.inf  # those that are known ahead come to an end
    _idle_since = 0.0  # when the last job that runs ahead gave up its GPUs

    def _ends_idle(self, wake: float, cluster_state: ClusterState, job_state: JobState) -> bool:
        """Not every policy promises for ever: after `_PATIENCE` idle rounds the end is when these began."""
        self._idle += 1
        if self._idle == 1:
            self._idle_since = self.now
        if wake < math.inf and self._idle <= _PATIENCE:
            return False
        self.now, self.terminate, self.truncated = self._idle_since, True, True
        return True

    def stop(self, at_s: float, cluster_state: ClusterState, job_state: JobState) -> None:
        """Ends at `at_s` (s) without a decision; jobs whose work is done by then have finished."""
        self.now, self.terminate, self.truncated = at_s, True, True
        self.update_cluster(cluster_state)
        self._move_to(at_s, cluster_state, job_state)
        self._complete(cluster_state, job_state)


def _after_now(events: Sequence[NodeEvent], job_state: JobState) -> Sequence[NodeEvent]:
    """Those of the events that are still to come."""
    return [event for event in events if event.time_s > job_state.now]


def _simulation(conditions: Conditions, feed: JobFeed, known: Sequence[NodeEvent]) -> Simulation:
    setup = BackendSetup(
        feed,
        conditions.performance,
        conditions.overheads,
        SimulationOptions(),
        conditions.round_s,
        ListedNodeEvents(known),
    )
    return SimulationBackend().open(setup)


def _table(job_state: JobState, work_s: Array) -> JobTable:
    """The jobs submitted so far, with the work that they are taken to have."""
    count, c = job_state.submitted, job_state.columns
    columns = {name: getattr(c, name)[:count] for name in SUBMISSION}
    extra = {name: values[:count] for name, values in c.extra.items()}
    return JobTable({**columns, "duration_s": work_s}, "look ahead", extra=extra)


def _stop_at(
    manager: _AheadManager,
    cluster_state: ClusterState,
    until_s: float,
    until: Callable[[JobState], bool] | None,
) -> Callable[[BloxManager, JobState], None] | None:
    """Ends a look ahead at its horizon, or where its condition holds."""
    if until_s == math.inf and until is None:
        return None

    def stop(_: BloxManager, job_state: JobState) -> None:
        if not manager.terminate and (manager.now >= until_s or (until is not None and until(job_state))):
            manager.stop(min(manager.now, until_s), cluster_state, job_state)

    return stop


def _end_s(manager: BloxManager, job_state: JobState, rows: Array) -> float:
    """When a look ahead ended: at the last finish if every job has finished, otherwise when it stopped."""
    if manager.truncated or not len(rows):
        return manager.now
    return float(job_state.columns.finish_s.take(rows).max())
