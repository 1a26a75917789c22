"""The policy: in each round the allocation with the best fitness, and batch sizes with the best goodput."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from blox.errors import BloxError
from blox.performance.goodput_batch import best_batch, capped
from blox.placement.walk.gpu_types import allowed_nodes
from blox.placement.walk.pinned import held_by_node, pins
from blox.profiles.elastic import elastic_profiles
from blox.registry import check_choices, register
from blox.schedulers.pollux.beliefs import Believed, Learnt, believed
from blox.schedulers.pollux.fitness import Round, restart_factor
from blox.schedulers.pollux.search import search
from blox.schedulers.pollux.speedup import speedup_table
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_NOT_DUE = "it came after a reallocation, and the next one was not due"
_LEFT_OUT = "the best allocation that was found gave it no GPUs"


@register.scheduling("pollux")
@dataclass(frozen=True)
class Pollux:
    """Divides GPUs so that all jobs learn as fast as can be (OSDI'21); sets GPUs, nodes and batch sizes.

    For elastic jobs, whose speeds are those of `goodput`. `p`: whose speedup counts, from 1 (all alike) down
    (the slowest). `restart_s` is what a restart is taken to cost. `interval_s`: reallocates at most so
    often, in the first round then (0: every round; below the length of a round it is as good as 0).
    `avoid_interference`: no two jobs that span nodes share one. `population` and `generations` size the
    search, which stops sooner where `budget_s` has passed (results then depend on the machine).
    `beliefs=learnt` fits models to what jobs report and lets a job at most double its GPUs, as the paper
    does; `oracle` knows them from `profiles`. Departs from the paper in the search (`search`, not a genetic
    algorithm), in taking jobs of unknown applications to scale perfectly between min_gpus and max_gpus, and
    in not growing the cluster.
    """

    p: float = -1.0
    restart_s: float = 30.0
    interval_s: float = 0.0
    avoid_interference: bool = True
    population: int = 32
    generations: int = 100
    budget_s: float | None = None
    beliefs: Literal["learnt", "oracle"] = "learnt"
    profiles: str = ""

    resizes: ClassVar[bool] = True
    uses_seed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choices(self)
        for name, value, least in (
            ("restart_s", self.restart_s, 0),
            ("interval_s", self.interval_s, 0),
            ("population", self.population, 2),
            ("generations", self.generations, 0),
            ("budget_s", 0 if self.budget_s is None else self.budget_s, 0),
        ):
            if not least <= value < math.inf:
                raise BloxError(f"{name} is {value}", fix=f"{name} must be {least} or more")
        if not -100 <= self.p <= 1:
            raise BloxError(f"p is {self.p}", fix="p must be between -100 and 1")
        elastic_profiles(self.profiles)

    @property
    def default_performance(self) -> str:
        """Speeds follow the profiles that the policy knows."""
        return f"goodput:profiles={self.profiles}" if self.profiles else "goodput"

    @property
    def reads_durations(self) -> bool:
        """How far a job has come, which gradient noise depends on, is known to an oracle alone."""
        return self.beliefs == "oracle"

    @property
    def wakes_every_s(self) -> float:
        """How often it is asked under the events clock, beside events, unless that says otherwise."""
        return self.interval_s or 60.0

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        rows = job_state.active
        if not len(rows):
            return Schedule(rows)
        rows = rows[np.lexsort((rows, job_state.gpu_seconds()))]  # least served first
        memory = job_state.memory(self, Memory)
        held = held_by_node(rows, cluster_state, job_state)
        jobs = self.look(rows, held, memory, cluster_state, job_state)
        if job_state.now >= memory.next_s and cluster_state.node_up.any():
            memory.next_s = job_state.now + self.interval_s
            held = self.search(self.problem(rows, held, jobs, cluster_state, job_state), job_state)
        return self.answer(rows, held, jobs, cluster_state, job_state)

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> Array:
        """It came after the last reallocation, or got nothing in it."""
        last_s = job_state.memory(self, Memory).next_s - self.interval_s
        return np.where(job_state.columns.admit_s.take(rows) > last_s, _NOT_DUE, _LEFT_OUT)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Asked in every round with an active job, since ages and models change all the time."""
        return job_state.now if len(job_state.active) else math.inf

    def look(
        self, rows: Array, held: Array, memory: Memory, cluster_state: ClusterState, job_state: JobState
    ) -> Believed:
        """What is believed of the jobs, after they have reported."""
        oracle = self.beliefs == "oracle"
        if not oracle:
            memory.learnt.look(rows, held, job_state)
        return believed(rows, memory.learnt, cluster_state, job_state, self.profiles, oracle)

    def problem(
        self, rows: Array, held: Array, jobs: Believed, cluster_state: ClusterState, job_state: JobState
    ) -> Round:
        """The round as the search sees it."""
        columns = job_state.columns
        capacity = np.where(cluster_state.node_up, cluster_state.node_gpus, 0)
        table = speedup_table(
            jobs.model,
            jobs.noise,
            jobs.limits,
            jobs.most,
            total_gpus=cluster_state.total_gpus,
            node_gpus=int(capacity.max()),
            profiled=jobs.profiled,
        )
        least = self.least(rows, job_state)
        allowed = allowed_nodes(Schedule(rows), cluster_state, job_state)
        return Round(
            table,
            held,
            capacity,
            np.minimum(jobs.most, table.shape[2] - 1),
            restart_factor(job_state.now - columns.submit_s[rows], restarts(rows, job_state), self.restart_s),
            self.p,
            self.avoid_interference,
            least=None if (least <= 1).all() else least,
            allowed=None if allowed is None else np.stack([allowed[row] for row in rows.tolist()]),
        )

    def least(self, rows: Array, job_state: JobState) -> Array:
        """GPUs that each job needs to run at all."""
        return np.asarray(job_state.columns.min_gpus[rows])

    def search(self, problem: Round, job_state: JobState) -> Array:
        """The best allocation found: jobs x nodes."""
        return search(
            problem,
            job_state.rng(self),
            population=self.population,
            generations=self.generations,
            budget_s=self.budget_s,
        )

    def answer(
        self, rows: Array, held: Array, jobs: Believed, cluster_state: ClusterState, job_state: JobState
    ) -> Schedule:
        """Pins the GPUs of every job that has any, and names the batch sizes."""
        gpus, nodes = held.sum(axis=1), (held > 0).sum(axis=1)
        runs = np.flatnonzero(gpus)
        shares = {int(rows[i]): [(int(n), int(held[i, n])) for n in np.flatnonzero(held[i])] for i in runs}
        batch = batches(jobs, np.maximum(nodes, 1), np.maximum(gpus, 1))
        return Schedule(rows[runs], gpus=gpus[runs], config=batch[runs], pinned=pins(shares, cluster_state))


@dataclass
class Memory:
    """What Pollux remembers between rounds."""

    learnt: Learnt = field(default_factory=Learnt)
    next_s: float = -math.inf


def restarts(rows: Array, job_state: JobState) -> Array:
    """How often each job has been started again."""
    columns = job_state.columns
    times = columns.moves[rows] + columns.preemptions[rows]
    waits = (columns.held_gpus[rows] == 0) & (times > 0)  # stopped, and not started again yet
    return np.asarray(times - waits)


def batches(jobs: Believed, nodes: Array, gpus: Array) -> Array:
    """The total batch size of each job: the best, or the smallest before it is profiled; -1: not elastic."""
    limits = jobs.limits
    best = best_batch(jobs.model, jobs.noise, limits, nodes, gpus)
    passes = best.accumulation + 1
    found = capped(best.atomic, best.accumulation, gpus, limits) * passes * gpus
    smallest = np.maximum(np.maximum(limits.initial, limits.smallest), limits.smallest_atomic * gpus)
    total = np.where(jobs.profiled & (best.goodput > 0), found, smallest)
    # dividing evenly may miss narrow limits, and GPUs that a job must have may be more than it has use for
    total = np.minimum(np.maximum(total, limits.smallest), limits.largest)
    return np.where(jobs.elastic, total, -1).astype(np.float64)
