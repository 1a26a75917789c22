"""Small cases that every policy is tried on: each a handful of jobs, a cluster, and the other parts.

All are seeded and tiny, so that the whole suite takes about a second. The policy under test takes the
place of the part of its kind; the others are our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from blox.admission_control.accept_all import AcceptAll
from blox.backends.feed import JobFeed
from blox.backends.setup import BackendSetup, open_backend
from blox.backends.simulation import Simulation, SimulationBackend
from blox.beliefs import misjudged
from blox.checks.own_names import measured_columns, refuse_measured
from blox.clock import Rounds
from blox.failures.node_events import ListedNodeEvents
from blox.job_reports.reporting import reporting
from blox.loop import run as run_loop
from blox.manager import BloxManager
from blox.optional import OPTIONAL, declared
from blox.options import SimulationOptions
from blox.performance.duration import Duration
from blox.performance.overheads import Overheads
from blox.performance.table import Table
from blox.placement.consolidated import Consolidated
from blox.placement.first_free import FirstFree
from blox.protocols import Backend, introduce
from blox.results import metrics
from blox.results.outcomes import outcome_columns
from blox.schedulers.fifo import Fifo
from blox.schedulers.las import Las
from blox.schedulers.srtf import Srtf
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, Node
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import NO_ROWS, Allocation
from blox.state.schedule import Schedule
from blox.termination.completed import Completed
from blox.workloads.table import Array, JobTable

ROUND_S = 300.0


@dataclass(frozen=True)
class Outcome:
    """A scenario that has been run: the tables of its result, and which jobs did not finish and why."""

    jobs: dict[str, Array]
    rounds: dict[str, Array]
    stints: dict[str, Array]
    starved: tuple[str, ...]


class _AnyPairs(Simulation):
    """Jobs that share GPUs run as fast as alone: what is checked is the policy, not its figures."""

    def _check_pairs(self, grants: Allocation, job_state: JobState) -> None:
        """All may share."""


@dataclass(frozen=True)
class _Paired:
    """The rates of a performance model, also for jobs that share GPUs."""

    model: Any
    simulation: ClassVar[type[Simulation]] = _AnyPairs

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        rate: Array | float = self.model.rate(grants, cluster_state, job_state)
        return rate


@dataclass(frozen=True, eq=False)
class Scenario:
    """A case. `kinds` are the kinds of policy that it is meant for; empty means all."""

    name: str
    jobs: JobTable
    nodes: tuple[Node, ...]
    scheduler: Any = field(default_factory=Las)
    placement: Any = field(default_factory=FirstFree)
    kinds: tuple[str, ...] = ()
    performance: Any = field(default_factory=Duration)
    overheads: Overheads = field(default_factory=Overheads)
    belief_factor: float = 1.0  # even rows are believed so many times as long, odd ones as short
    node_events: tuple[NodeEvent, ...] = ()
    backend: Any = field(default_factory=SimulationBackend)
    reports: Any = None

    def run(self, kind: str, policy: Any, *, skip: bool) -> Outcome:
        """Runs the case with `policy` as the part of that kind."""
        parts = {
            "admission": AcceptAll(),
            "scheduling": self.scheduler,
            "placement": self.placement,
            "termination": Completed(),
            kind: policy,
        }
        cluster_state = ClusterState(ClusterSpec(self.nodes))
        introduce(parts["placement"], cluster_state)
        job_state = JobState(seed=1)
        jobs = _with_columns(self.jobs, declared(policy, "needs_columns"))
        feed = JobFeed(iter((jobs,)), cluster_state.total_gpus, self._believed)
        backend = self._open(feed)
        names = declared(policy, "reads_metrics")
        manager = BloxManager(
            reporting(backend, MadeUp(names) if names else self.reports, feed),
            Rounds(ROUND_S),
            termination=parts["termination"],
            max_rounds=self.most_rounds(),
        )
        run_loop(
            manager,
            cluster_state,
            job_state,
            admission=parts["admission"],
            scheduler=parts["scheduling"],
            placement=parts["placement"],
            skip=skip,
        )
        manager.recorder.close(manager.now)
        found = Outcome(
            metrics.job_columns(job_state, end_s=manager.now, window=None),
            manager.recorder.rounds(),
            manager.recorder.stints(manager.now),
            _starved(job_state),
        )
        for name in ("figures", "job_columns"):
            if kind in OPTIONAL[name].kinds and (say := declared(policy, name)):
                told, measured = say(job_state), measured_columns(job_state)
                if name == "figures" and told:
                    measured = self._measured_figures(found, manager, job_state, feed)
                refuse_measured(policy, name, told, measured, job_state)
        return found

    def _measured_figures(
        self, found: Outcome, manager: BloxManager, job_state: JobState, feed: JobFeed
    ) -> set[str]:
        """The names in the summary of a run of the case."""
        end_s, recorder = manager.now, manager.recorder
        told = outcome_columns(job_state, found.jobs, feed.duration_s, recorder.end_reasons, end_s=end_s)
        gpus, jobs = sum(node.gpus for node in self.nodes), {**found.jobs, **told}
        return set(
            metrics.summarise(jobs, found.rounds, recorder, end_s=end_s, total_gpus=gpus, round_s=ROUND_S)
        )

    def _open(self, feed: JobFeed) -> Backend:
        events = ListedNodeEvents(self.node_events)
        options = SimulationOptions()
        setup = BackendSetup(feed, _Paired(self.performance), self.overheads, options, ROUND_S, events)
        return open_backend(self.backend, setup)

    def most_rounds(self) -> int:
        """Ample for any order of the jobs, even one after another with a restart in every round."""
        alone = self.jobs.columns["duration_s"] * 4 + 10 * ROUND_S
        return int((self.jobs.columns["submit_s"].max() + alone.sum()) / ROUND_S) + 100

    def _believed(self, jobs: JobTable) -> JobTable:
        wrong = np.where(np.arange(len(jobs)) % 2, 1 / self.belief_factor, self.belief_factor)
        return misjudged(jobs, wrong, np.sqrt(wrong))


@dataclass(frozen=True)
class MadeUp:
    """Reports under these names: a number that falls with every epoch, less and less, to 1 and above."""

    names: tuple[str, ...]

    def epochs_of(self, rows: Array, job_state: JobState) -> Array:
        return 10 + rows % 30

    def report(self, rows: Array, epoch: Array, job_state: JobState) -> dict[str, Array]:
        fallen = 1 + rows % 3 + np.exp(-epoch / (1 + rows % 4))
        return {name: fallen + at for at, name in enumerate(self.names)}


@dataclass(frozen=True)
class Elastic:
    """Grants jobs as much as they can use while few are active, and as little as they can bear after that."""

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        few = job_state.columns.max_gpus[job_state.active].sum() <= cluster_state.total_gpus
        column = job_state.columns.max_gpus if few else job_state.columns.min_gpus
        return replace(Schedule.ordered(job_state), gpus=column[job_state.active])

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        return math.inf


@dataclass(frozen=True)
class Turns:
    """Lists every other job, the others in the next round: unlisted jobs must give up their GPUs."""

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        turn = int(job_state.now // ROUND_S) % 2
        jobs = job_state.active[job_state.active % 2 == turn]
        return Schedule(jobs if len(jobs) else job_state.active)


def _with_columns(jobs: JobTable, names: tuple[str, ...]) -> JobTable:
    """The jobs with columns of their own by these names: small whole numbers, some of them equal."""
    extra = {name: np.arange(len(jobs)) * 5.0 % 7 for name in names}
    return replace(jobs, extra=extra) if names else jobs


def scenarios(kind: str) -> list[Scenario]:
    """The cases for policies of a kind, or for backends."""
    cases = (*_steady_clusters(), *_changing_clusters(), *_special_schedules(), _long_jobs())
    return [case for case in cases if not case.kinds or kind in case.kinds]


def _steady_clusters() -> list[Scenario]:
    """Few jobs and many, equal and uneven, on clusters that stay as they are."""
    four, crowd = _cluster(4, 4, 4), _crowd()
    uneven = _random_jobs(18, seed=3, sizes=(1, 2, 3, 4, 8, 12, 16), within_s=2000)
    types = np.array(["v100", "p100", "", "v100|p100"], dtype=object)
    typed = {
        **_random_jobs(16, seed=4, sizes=(1, 2, 4, 8), within_s=1500),
        "gpu_types": types[np.arange(16) % 4],
    }
    by_type = (*_cluster(4, 4, kind="v100"), *_cluster(8, kind="p100", first=2))
    return [
        Scenario("one job on an idle cluster", _table(_random_jobs(1, seed=0, sizes=(2,), within_s=1)), four),
        Scenario(
            "twelve equal jobs submitted at once",
            _table(_equal_jobs(12, gpus=2, duration_s=900.0)),
            _cluster(4, 4),
        ),
        Scenario(
            "jobs that arrive long after all others have finished",
            _table(
                {**_equal_jobs(4, gpus=3, duration_s=1000.0), "submit_s": np.array([0.0, 10.0, 2e4, 2e4])}
            ),
            _cluster(4, 4),
            placement=Consolidated(),
        ),
        Scenario("twice as many jobs as GPUs", _table(crowd), four, overheads=Overheads(20.0, 40.0)),
        Scenario(
            "twice as many jobs as GPUs, strictly in order",
            _table(crowd),
            four,
            Fifo(),
            Consolidated("spread"),
        ),
        Scenario(
            "nodes of different sizes, and wrong beliefs about durations",
            _table(uneven),
            _cluster(8, 4, 4, 2, 1),
            scheduler=Srtf(),
            placement=Consolidated("spread"),
            performance=Table(),
            belief_factor=3.0,
        ),
        Scenario("jobs that may use some GPU types only", _table(typed), by_type),
    ]


def _changing_clusters() -> list[Scenario]:
    """Nodes that fail, come back, and are drained."""
    four, crowd = _cluster(4, 4, 4), _crowd()
    return [
        Scenario(
            "a node that fails and comes back",
            _table(crowd),
            four,
            node_events=(
                NodeEvent(1000.0, 1, "down"),
                NodeEvent(4000.0, 1, "up"),
                NodeEvent(4500.0, 0, "down"),
                NodeEvent(9000.0, 0, "up"),
            ),
        ),
        Scenario(
            "nodes that are drained, with notice and without",
            _table(crowd),
            four,
            overheads=Overheads(restart_s=30.0, checkpoint_s=400.0, checkpoint_cost_s=10.0),
            node_events=(
                NodeEvent(500.0, 2, "draining"),
                NodeEvent(1000.0, 1, "draining"),
                NodeEvent(1900.0, 2, "down", announced=True),
                NodeEvent(2100.0, 2, "up"),
                NodeEvent(2500.0, 1, "down", announced=True),
                NodeEvent(2500.0, 0, "down", announced=True),
                NodeEvent(6000.0, 0, "up"),
                NodeEvent(7000.0, 1, "up"),
            ),
        ),
    ]


def _special_schedules() -> list[Scenario]:
    """Schedules that few policies make, for placements."""
    four = _cluster(4, 4, 4)
    bounds = {"gpus": np.full(10, 4), "min_gpus": np.full(10, 2), "max_gpus": np.full(10, 8)}
    return [
        Scenario(
            "a schedule that resizes jobs",
            _table(
                {**_equal_jobs(10, gpus=4, duration_s=2000.0), **bounds, "submit_s": np.arange(10) * 700.0}
            ),
            four,
            scheduler=Elastic(),
            kinds=("placement",),
        ),
        Scenario(
            "a schedule that leaves jobs out", _table(_crowd()), four, scheduler=Turns(), kinds=("placement",)
        ),
    ]


def _long_jobs() -> Scenario:
    """Nothing happens for more than a week but what a backend does by itself."""
    return Scenario(
        "jobs that run for nine days",
        _table(_equal_jobs(2, gpus=2, duration_s=9 * 86400.0)),
        _cluster(4),
        kinds=("backend",),
    )


def _crowd() -> dict[str, Any]:
    """Twice as many jobs as 12 GPUs can take."""
    return _random_jobs(24, seed=2, sizes=(1, 1, 2, 4, 8), within_s=3000)


def _cluster(*gpus: int, kind: str = "gpu", first: int = 0) -> tuple[Node, ...]:
    return tuple(Node(f"node-{i}", size, kind) for i, size in enumerate(gpus, first))


def _equal_jobs(count: int, *, gpus: int, duration_s: float) -> dict[str, Any]:
    return {
        "job_id": np.array([f"job-{i}" for i in range(count)], dtype=object),
        "submit_s": np.zeros(count),
        "gpus": np.full(count, gpus),
        "duration_s": np.full(count, duration_s),
        "user": np.array([f"user-{i % 3}" for i in range(count)], dtype=object),
    }


def _random_jobs(count: int, *, seed: int, sizes: tuple[int, ...], within_s: float) -> dict[str, Any]:
    """Bursts, ties, a long tail of durations; several users, tenants, models, priorities."""
    rng = np.random.default_rng(seed)
    submit = np.sort(np.round(rng.uniform(0, within_s, count), 1))
    submit[: count // 3] = 0.0

    def words(*choices: str) -> Array:
        return rng.choice(np.array(choices, dtype=object), count)

    return {
        "job_id": np.array([f"job-{i}" for i in range(count)], dtype=object),
        "submit_s": submit,
        "gpus": rng.choice(sizes, count),
        "duration_s": np.round(np.exp(rng.normal(6.5, 1.0, count)), 1),
        "user": words("ann", "bob", "eve"),
        "tenant": words("red", "blue"),
        "model": words("LSTM", "Resnet-50", ""),
        "job_type": words("training", "evaluation"),
        "priority": rng.integers(0, 3, count),
    }


def _table(columns: dict[str, Any]) -> JobTable:
    return JobTable.build(columns, source="blox.checks.scenarios")


def _starved(job_state: JobState) -> tuple[str, ...]:
    """Jobs that did not finish although there was time enough, each with what it was waiting for."""
    found = []
    columns = job_state.columns
    for row in (job_state.active if len(job_state.active) else NO_ROWS).tolist():
        started = not np.isnan(columns.first_start_s[row])
        times = int(columns.preemptions[row] + columns.moves[row])
        found.append(
            f"{columns.job_id[row]!r} ({int(columns.gpus[row])} GPUs) "
            + (f"was interrupted {times} times and did not finish" if started else "was never started")
        )
    found += [f"{columns.job_id[row]!r} was never admitted" for row in job_state.waiting.tolist()]
    return tuple(found)
