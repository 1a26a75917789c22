from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from blox.cluster_state import ClusterState
from blox.errors import BloxError, suggestion
from blox.fractions import TimeShares, gpus_by_type
from blox.job_state import JobState
from blox.performance.job_speeds import job_speeds
from blox.registry import register
from blox.schedule import Schedule
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.allox import AlloX
from blox.schedulers.gavel.beliefs import Noisy, Oracle
from blox.schedulers.gavel.fifo import Fifo
from blox.schedulers.gavel.jobs import Belief, problem_of, speeds_now
from blox.schedulers.gavel.learnt import Learnt
from blox.schedulers.gavel.policies import Policy, policy
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.queue import FifoAware, ShortestJobFirst
from blox.schedulers.gavel.water_filling import WaterFilling
from blox.workloads.table import Array

NOTHING = 1e-4  # smaller fractions are a solver's dust


@dataclass
class _Memory:
    shares: TimeShares
    of_policy: dict[str, Any] = field(default_factory=dict)
    seen: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # jobs at the last round
    gpus: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # by type, at the last round
    changed: bool = True  # somebody came or went since the last solution
    solved_s: float = -np.inf
    relaxed: dict[int, int] = field(default_factory=dict)  # job -> solutions that did not hold its SLO
    guessed: int = 0  # GPU types of which no speed is known, where there are several types


@register.scheduling("gavel")
@dataclass(frozen=True)
class Gavel:
    """Gives jobs parts of the time on each GPU type by an optimisation problem, round by round (OSDI'20).

    `policy` is one of Gavel's: max_min_fairness (LAS), max_min_fairness_water_filling, finish_time_fairness,
    min_total_duration (makespan), max_sum_throughput, fifo, sjf, allox, gandiva, isolated, ... Without an
    ending it takes all GPU types for alike, `_perf` knows them apart, `_packed` lets two share GPUs, too.
    Fractions are worked out anew when jobs have come or gone, at most every `reset_s` seconds; until then a
    newcomer gets an equal part. Weights are the column priority, SLOs the column deadline_s. With `entities`
    (tenant, user or group) water filling is hierarchical: entities share by `entity_weights`
    (`red:2+blue:1`; others 1), jobs inside one by `inside` (`red:fifo`; others by fairness). `throughputs` is
    a JSON table of steps/s; without it the project's own is used. `belief`: `oracle` knows that table,
    `noisy` knows it but for factors (`sigma`), `learnt` learns from what jobs report, and from trying them
    beside a share `profiled` of the table's job types (`learnt.py`). `choice` and `relax` are the policies'.
    Places too.

    Departs from the paper's mechanism: priorities are compared over all types at once, not type by type, so
    a job is not put on a fast type that it hardly gains from; spare GPUs go to whom they serve best; what a
    job is owed survives a new solution; and a newcomer does not wait for one.
    """

    policy: str = "max_min_fairness_perf"
    reset_s: float = 1920.0
    entities: Literal["", "tenant", "user", "group"] = ""
    entity_weights: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    throughputs: str = ""
    belief: Literal["oracle", "noisy", "learnt"] = "oracle"
    sigma: float = 0.2
    profiled: float = 0.2
    choice: Literal["fairest", "centre", "any"] = "fairest"
    relax: Literal["drop", "scale"] = "drop"

    def __post_init__(self) -> None:
        found = self._policy
        if not 0 <= self.reset_s < np.inf:
            raise BloxError(f"reset_s is {self.reset_s}", fix="give seconds, 0 or more")
        if not 0 <= self.sigma < 10:
            raise BloxError(f"sigma is {self.sigma}", fix="give a number from 0 to 10")
        if not 0 < self.profiled <= 1:
            raise BloxError(f"profiled is {self.profiled}", fix="give a share above 0, up to 1")
        if (self.entity_weights or self.inside) and not self.entities:
            raise BloxError("nobody knows what an entity is", fix="say entities=tenant, user or group")
        if self.entities and not isinstance(found, WaterFilling):
            raise BloxError(
                f"{self.policy} knows no entities",
                fix="policy=max_min_fairness_water_filling, with _perf or _packed",
            )
        self._weights, self._by_age  # noqa: B018  # faults in them are told now
        job_speeds(self.throughputs, ())

    @property
    def default_performance(self) -> str:
        """Speeds follow the table that the policy knows."""
        return f"throughputs:path={self.throughputs}" if self.throughputs else "throughputs"

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        memory = job_state.memory(self, lambda: _Memory(TimeShares(len(cluster_state.gpu_types))))
        memory.shares.account(job_state, cluster_state)
        if len(cluster_state.gpu_types) > 1:
            memory.guessed = len(job_speeds(self.throughputs, cluster_state.gpu_types).guessed)
        if self.belief == "learnt":
            self._learnt.observe(cluster_state, job_state)
        gpus = gpus_by_type(cluster_state)
        same_jobs = job_state.active is memory.seen or np.array_equal(job_state.active, memory.seen)
        just_now = not (same_jobs and np.array_equal(gpus, memory.gpus))
        if just_now:
            memory.changed, memory.seen, memory.gpus = True, job_state.active, gpus
        chosen = self._policy
        if memory.changed and len(job_state.active):
            at_once = isinstance(chosen, (Fifo, FifoAware, ShortestJobFirst, AlloX))
            due = job_state.now - memory.solved_s >= self.reset_s
            if at_once or due or not len(memory.shares.members):
                self._solve(memory, chosen, job_state, cluster_state)
            elif just_now:
                self._welcome(memory, job_state, cluster_state)
        fill = not isinstance(chosen, (Fifo, FifoAware))
        return Schedule.from_fractions(job_state, cluster_state, memory.shares, fill=fill)

    def job_columns(self, job_state: JobState) -> dict[str, Array]:
        """Rounds a job ran in, those on the GPUs of the round before, solutions without its SLO; the SLO."""
        memory = job_state.memory(self, lambda: _Memory(TimeShares(0)))
        found = np.zeros((3, job_state.submitted), dtype=np.int64)
        counted = memory.shares.leases[: job_state.submitted].T
        found[:2, : counted.shape[1]] = counted
        for row, times in memory.relaxed.items():
            found[2, row] = times
        told: dict[str, Array] = dict(zip(("leases", "lease_extensions", "slo_relaxed"), found))
        return told | {"deadline_s": job_state.columns.deadline_s[: job_state.submitted]}

    def figures(self, job_state: JobState) -> dict[str, float]:
        """For the summary: the share of leases that were extended, the jobs whose SLO was relaxed."""
        memory = job_state.memory(self, lambda: _Memory(TimeShares(0)))
        leases, extended = memory.shares.leases.sum(axis=0).tolist()
        guessed = {"guessed_gpu_types": memory.guessed} if memory.guessed else {}
        return {"extended_leases": extended / max(leases, 1), "slo_relaxed": len(memory.relaxed), **guessed}

    @property
    def _policy(self) -> Policy:
        return _configured(self.policy, self.choice, self.relax)

    @property
    def _belief(self) -> Belief:
        if self.belief == "learnt":
            return self._learnt
        return Noisy(self.throughputs, self.sigma) if self.belief == "noisy" else Oracle(self.throughputs)

    @property
    def _learnt(self) -> Learnt:
        return Learnt(self.throughputs, self.profiled, self._policy.packed)

    @property
    def _weights(self) -> dict[str, float]:
        found = {}
        for text in self.entity_weights:
            name, _, weight = text.rpartition(":")
            try:
                found[name] = float(weight)
            except ValueError:
                found[name] = -1.0
            if not (name and 0 < found[name] < np.inf):
                raise BloxError(f"{text!r} is no weight of an entity", fix="write NAME:WEIGHT+NAME:WEIGHT")
        return found

    @property
    def _by_age(self) -> dict[str, str]:
        found = {}
        for text in self.inside:
            name, _, found[name] = text.rpartition(":")
            if found[name] not in ("fairness", "fifo"):
                raise BloxError(
                    f"{text!r} does not say how jobs share inside an entity",
                    fix=f"write NAME:fifo or NAME:fairness; {suggestion(found[name], ('fairness', 'fifo'))}",
                )
        return found

    def _solve(
        self, memory: _Memory, chosen: Policy, job_state: JobState, cluster_state: ClusterState
    ) -> None:
        """New fractions for all jobs."""
        belief = self._belief
        rows, speed, base = speeds_now(job_state.active, belief, cluster_state, job_state)
        pairs = belief.pairs(rows, cluster_state, job_state) if chosen.packed else None
        entity = None
        if self.entities:
            chosen, entity = self._with_entities(chosen, rows, job_state)
        if hasattr(chosen, "seed"):
            chosen = replace(chosen, seed=job_state.seed)  # type: ignore[type-var]
        problem = problem_of(rows, speed, base, cluster_state, job_state, pairs=pairs, entity=entity)
        found = chosen.allocate(problem, memory.of_policy)
        for place in found.relaxed:
            row = int(rows[place])
            memory.relaxed[row] = memory.relaxed.get(row, 0) + 1
        members = np.where(found.members >= 0, rows[found.members], -1)
        fractions = np.where(found.fractions > NOTHING, found.fractions, 0.0)
        speed = _speed_of(found, problem)
        paired = members[:, 1] >= 0
        if self.belief == "learnt" and paired.any():
            speed[paired] *= self._learnt.tried(members[paired], cluster_state, job_state)
        memory.shares.want(members, fractions, self._seen(speed))
        memory.solved_s, memory.changed = job_state.now, False

    def _welcome(self, memory: _Memory, job_state: JobState, cluster_state: ClusterState) -> None:
        """Newcomers get an equal part of every type that they can use until the next solution."""
        new = memory.shares.without_row(job_state.active)
        if len(new):
            rows, speed, _ = speeds_now(new, self._belief, cluster_state, job_state)
            width = job_state.columns.gpus.take(rows)[:, None]
            parts = gpus_by_type(cluster_state) / len(job_state.active) / width * (speed > 0)
            parts /= np.maximum(parts.sum(axis=1, keepdims=True), 1.0)
            memory.shares.add(rows, parts, self._seen(speed))

    def _seen(self, speed: Array) -> Array:
        """Speeds as the policy may know them when it hands out spare GPUs: all types alike, or apart."""
        aware = self.policy.replace("-", "_")
        informed = aware == "allox" or "_perf" in aware or "_packed" in aware
        return speed if informed else np.where(speed > 0, 1.0, 0.0)

    def _with_entities(self, chosen: Policy, rows: Array, job_state: JobState) -> tuple[Policy, Array]:
        names = getattr(job_state.columns, self.entities)[rows].tolist()
        order = sorted(set(names))
        weights, by_age = self._weights, self._by_age
        told = replace(  # type: ignore[type-var]
            chosen,
            entity_weights=tuple(weights.get(name, 1.0) for name in order),
            inside=tuple(by_age.get(name, "fairness") for name in order),
        )
        return told, np.array([order.index(name) for name in names], dtype=np.int64)


@lru_cache(maxsize=64)
def _configured(name: str, choice: str, relax: str) -> Policy:
    known = policy(name)
    fields = {"choice": choice, "relax": relax, "partners": "few"}
    return replace(known, **{k: v for k, v in fields.items() if hasattr(known, k)})  # type: ignore[type-var]


def _speed_of(found: Allocation, problem: Problem) -> Array:
    """How fast each row of an allocation is on each type; of a pair, 0 where either cannot run so."""
    first, second = found.members.T
    speed: Array = problem.throughput[first]
    paired = second >= 0
    if paired.any():
        assert problem.pairs is not None
        kind, beside = problem.pairs.kind, problem.pairs.throughput
        a, b = kind[first[paired]], kind[second[paired]]
        speed[paired] = np.minimum(beside[a, b], beside[b, a])
    return speed
