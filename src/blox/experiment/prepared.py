"""Prepared: an experiment whose parts are built, ready to run. `run()` gives its Result."""

from __future__ import annotations

import dataclasses
import gc
import hashlib
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from blox.backends.feed import JobFeed
from blox.backends.setup import BackendSetup, open_backend
from blox.beliefs import belief_from_spec
from blox.checks.guard import Guard
from blox.checks.intact import Submissions
from blox.clock import Rounds
from blox.containment import allowing, contained
from blox.errors import BloxError
from blox.experiment.after_round import OnRound, Progress, after_round
from blox.experiment.gathered import gathered
from blox.experiment.parts import (
    apps_of,
    backend_of,
    check_numbers,
    check_reservable,
    check_timeout,
    clock_of,
    cluster_of,
    compose,
    windows_of,
)
from blox.experiment.traits import know_durations
from blox.experiment.window import parse_window
from blox.experiment.workload_checks import check_workload
from blox.failures.job_failures import job_failures
from blox.failures.log import FailureLog
from blox.failures.spec import failures_from_spec
from blox.failures.timeline import Timeline, events_ahead
from blox.files_read import FilesRead
from blox.foreign import user_fault
from blox.job_reports.reporting import reporting
from blox.loop import run as run_loop
from blox.manager import BloxManager
from blox.protocols import Backend, declared, introduce
from blox.recording.decisions import DecisionTrace
from blox.results.accounting import Tariff
from blox.results.decisions import Decisions
from blox.results.own_metrics import metrics_from_spec
from blox.results.result import Result
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, cluster_from_spec
from blox.state.jobs import JobState
from blox.workloads.drawn import drawn
from blox.workloads.extent import is_endless, stated_jobs
from blox.workloads.limits import MOST_JOBS, whole
from blox.workloads.spec import workload_from_spec, workload_rng
from blox.workloads.table import Array, JobTable

if TYPE_CHECKING:
    from blox.experiment.settings import Experiment

DEFAULT_JOBS = 1000  # of an endless generator, when no window says otherwise
PATIENCE = 50  # a window that has not finished when so many times its jobs have come never will


class Prepared:
    """An experiment whose parts are built and whose inputs are known to fit together."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.files_read = FilesRead()
        check_timeout(experiment.policy_timeout_s, where="policy_timeout_s")
        with self.files_read.noting(), allowing(experiment.policy_timeout_s):
            self._build(experiment)
            check_workload(self)
            self.files_read.named_by(self._parts())

    def _build(self, experiment: Experiment) -> None:
        self.window = parse_window(experiment.window)
        self.workload = workload_from_spec(experiment.workload)
        self.backend_part = backend_of(experiment)
        check_numbers(experiment, self.backend_part)
        self.composition = compose(experiment, self.workload, self.backend_part)
        self.cluster: ClusterSpec = cluster_from_spec(cluster_of(experiment, self.composition))
        for part in (getattr(self.composition, n) for n in ("performance", "scheduler", "placement")):
            if check_cluster := declared(part, "check_cluster"):
                check_cluster(self.cluster)
        self.resizes = declared(self.composition.scheduler, "resizes")
        self.apps = apps_of(experiment, self.composition.scheduler)
        self.clock = self.composition.clock or clock_of(experiment, self.composition.scheduler)
        belief_from_spec(experiment.belief, 0)
        self.failures = failures_from_spec(experiment.failures)
        for source in self.failures:
            if isinstance(self.clock, Rounds) and (check_round := declared(source, "check_round")):
                check_round(self.clock.round_s)
        self._node_events()
        self.windows = windows_of(self.failures, self.cluster)
        if self.windows:
            check_reservable(self.composition)
        self.oracles = know_durations(experiment.belief, self.composition)
        self.tariff = Tariff.of(experiment.prices, experiment.power, self.cluster)
        self.metrics = metrics_from_spec(experiment.metrics)
        self.most_jobs = self._most_jobs()
        self.digest = hashlib.sha256()  # of the jobs that a run has drawn
        self.feed: JobFeed | None = None  # that a run has drawn them from
        parts = vars(self.composition).values()
        self.foreign = [repr(part) for part in parts if isinstance(part, Guard)]  # policies from outside
        self.submissions = Submissions()  # the jobs as given, where there are such
        if self.composition.options.unlimited_gpus:
            self.cluster = self._room_for_all_jobs()

    @property
    def oracle(self) -> bool:
        """Whether a policy decides by the true durations of jobs."""
        return bool(self.oracles)

    def _parts(self) -> list[object]:
        """Everything that was built from a spec."""
        chosen = declared(self.composition.scheduler, "chooses_among")
        return [*vars(self.composition).values(), *chosen, self.workload, self.backend_part]

    def backend(self, job_batches: Iterator[JobTable] | None = None) -> Backend:
        """The backend, fed with the jobs of the workload, or with these."""
        setup = self.setup(job_batches)
        with allowing(self.experiment.policy_timeout_s):
            opened = open_backend(self.backend_part, setup)
            return reporting(opened, self.composition.reports, setup.feed)

    def setup(self, job_batches: Iterator[JobTable] | None = None) -> BackendSetup:
        """What a backend is opened with. Draws the jobs anew."""
        experiment, parts = self.experiment, self.composition
        if job_batches is None:
            self.digest = hashlib.sha256()
            job_batches = _hashed(drawn(self.workload, workload_rng(experiment.seed)), self.digest)
        if parts.options.whole_seconds:
            job_batches = map(_in_whole_seconds, job_batches)
        if self.foreign:
            self.submissions = Submissions()
            job_batches = self.submissions.noted(job_batches)
        belief = belief_from_spec(
            experiment.belief, experiment.seed, by_iterations=parts.options.whole_round_credit
        )
        largest = sys.maxsize if parts.options.oversized_wait else self.cluster.total_gpus
        self.feed = feed = JobFeed(job_batches, largest, belief, self.most_jobs, self.resizes)
        return BackendSetup(
            feed,
            parts.performance,
            parts.overheads,
            parts.options,
            experiment.round_s,
            self._node_events(),
            job_failures(self.failures, experiment.seed),
        )

    def _node_events(self) -> Timeline | None:
        """When nodes fail. Raises BloxError for nodes and times that cannot be."""
        return Timeline(self.failures, self.cluster, self.experiment.seed) if self.failures else None

    def states(self) -> tuple[ClusterState, JobState]:
        """An empty cluster and an empty table of jobs."""
        cluster_state = ClusterState(self.cluster)
        introduce(self.composition.placement, cluster_state)
        cluster_state.windows = self.windows
        cluster_state.node_events_ahead = partial(
            events_ahead, self.failures, self.cluster, self.experiment.seed
        )
        return cluster_state, JobState(self.experiment.seed)

    def manager(self, backend: Backend) -> BloxManager:
        """The manager of a run on this backend, with the experiment's clock, window and end."""
        manager = self.composition.manager(
            backend,
            self.clock,
            termination=self.composition.termination,
            window=self.window,
            max_rounds=self.experiment.max_rounds,
            most_submitted=math.inf if self.window is None else PATIENCE * (self.window[1] + 1) + 10_000,
        )
        if self.failures or self.composition.overheads.checkpoint_s < math.inf:
            manager.recorder.failures = FailureLog()
        return manager

    def run(
        self, progress: Progress | None = None, *, skip: bool = True, trace_decisions: bool = False
    ) -> Result:
        """Runs the loop to its end and gathers the results, with what every round decided if asked for."""
        trace = DecisionTrace() if trace_decisions else None
        wall, cpu = time.perf_counter(), time.process_time()
        told = after_round(progress, self.window, self._expected_jobs())
        manager, job_state = self._loop(told, skip=skip, trace=trace)
        timing = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
        timing["jobs_per_s"] = job_state.submitted / max(timing["wall_s"], 1e-9)
        timing["rounds_executed"] = manager.rounds
        found = self.result(manager, job_state, timing)
        return found if trace is None else dataclasses.replace(found, decisions=Decisions(trace.table))

    def decision_at(self, time_s: float) -> dict[str, Array]:
        """What the last round at or before a time decides: the loop runs up to there. Columns as traced."""
        trace = DecisionTrace(last_only=True)

        def stop(manager: BloxManager, job_state: JobState) -> None:
            manager.terminate = manager.terminate or manager.now > time_s

        self._loop(stop, trace=trace)
        return trace.table()

    def _loop(
        self, on_round: OnRound, *, skip: bool = True, trace: DecisionTrace | None = None
    ) -> tuple[BloxManager, JobState]:
        """Runs the loop until it ends."""
        backend = self.backend()
        cluster_state, job_state = self.states()
        manager = self.manager(backend)
        try:
            limited = allowing(self.experiment.policy_timeout_s)
            with self.files_read.noting(), _rare_collections(), contained(), limited:
                run_loop(
                    manager,
                    cluster_state,
                    job_state,
                    admission=self.composition.admission,
                    scheduler=self.composition.scheduler,
                    placement=self.composition.placement,
                    skip=skip,
                    on_round=on_round,
                    trace=trace,
                )
        except BloxError:
            raise
        except KeyboardInterrupt as error:
            if (fault := user_fault(error)) is not None:  # raised by a file of the user's, not by Ctrl-C
                raise fault from None
            raise
        except Exception:
            self._check_intact(job_state)
            raise
        finally:
            backend.close()
        self._check_intact(job_state)
        return manager, job_state

    def _check_intact(self, job_state: JobState) -> None:
        """Tells what policies from outside have changed in the state."""
        if self.foreign:
            self.submissions.check(job_state, ", ".join(self.foreign))

    def result(
        self, manager: BloxManager, job_state: JobState, timing: dict[str, Any] | None = None
    ) -> Result:
        """The figures of a run that has ended, also of a loop that a user wrote."""
        assert self.feed is not None  # a run has a backend
        with allowing(self.experiment.policy_timeout_s):
            return gathered(self, manager, job_state, timing or {})

    def _most_jobs(self) -> int | None:
        if self.experiment.jobs is not None or self.window is not None:
            if stated_jobs(self.workload) is None and declared(self.workload, "endless"):
                whole("jobs", self.experiment.jobs, 1, MOST_JOBS)
            return self.experiment.jobs
        where = f"workload {self.experiment.workload!r}"
        return DEFAULT_JOBS if is_endless(self.workload, self.experiment.seed, where=where) else None

    def _room_for_all_jobs(self) -> ClusterSpec:
        """One node with as many GPUs as all jobs of the trace ask for together."""
        table: JobTable | None = declared(self.workload, "table")
        if table is None:
            raise BloxError(
                "a cluster that has room for every job cannot be made for a generator",
                where=f"workload {self.experiment.workload!r}",
                fix="give a trace, or write the generator's jobs to a file first (blox workload)",
            )
        return cluster_from_spec(f"1x{max(1, int(table.columns['gpus'].sum()))}")

    def _expected_jobs(self) -> int:
        """How many jobs a run without a window has; 0 if not known."""
        if self.most_jobs is not None:
            return self.most_jobs
        return stated_jobs(self.workload) or 0


def _in_whole_seconds(jobs: JobTable) -> JobTable:
    """The same jobs, their times cut down to whole seconds."""
    whole = {name: np.floor(jobs.columns[name]) for name in ("submit_s", "duration_s")}
    return dataclasses.replace(jobs, columns={**jobs.columns, **whole})


def _hashed(batches: Iterator[JobTable], digest: Any) -> Iterator[JobTable]:
    """Passes batches on and takes their fingerprint, so that a result says which jobs it is about."""
    for jobs in batches:
        for name in ("submit_s", "gpus", "duration_s"):
            digest.update(jobs.columns[name].tobytes())
        yield jobs


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Python looks for cycles of objects rarely while a run makes many small ones, and hardly a cycle."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
