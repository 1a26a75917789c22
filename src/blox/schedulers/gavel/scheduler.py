from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from blox.errors import BloxError
from blox.optional import declared
from blox.performance.job_speeds import check_speeds, job_speeds
from blox.registry import check_choices, register
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.beliefs import Noisy, Oracle
from blox.schedulers.gavel.jobs import Belief, problem_of, speeds_now
from blox.schedulers.gavel.learnt import Learnt
from blox.schedulers.gavel.memory import Memory
from blox.schedulers.gavel.named import check_known, numbers, words
from blox.schedulers.gavel.policies.allox import AlloX
from blox.schedulers.gavel.policies.by_name import Policy, policy, with_parameters
from blox.schedulers.gavel.policies.fifo import Fifo
from blox.schedulers.gavel.policies.max_sum_throughput import MaxSumThroughput
from blox.schedulers.gavel.policies.queue import FifoAware, ShortestJobFirst
from blox.schedulers.gavel.policies.water_filling import WaterFilling
from blox.schedulers.gavel.problem import COST_PER_HOUR, Problem
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec
from blox.state.fractions import TimeShares, gpus_by_type
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_NOT_ITS_TURN = "the round went to jobs that had had less of their part of the time"
_NO_TIME = "the policy's allocation gave it no part of the time"
NOTHING = 1e-4  # smaller fractions are a solver's dust


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
    `prices` (`v100:2.5+k80:0.5`) are dollars per GPU and hour; without them Google's of 2020 count, and 1 for
    types that those lack. Places too.

    Departs from the paper's mechanism: priorities are compared over all types at once, not type by type, so
    a job is not put on a fast type that it hardly gains from; spare GPUs go to the jobs they serve best;
    what a job is owed survives a new solution; and a newcomer does not wait for one.
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
    prices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_choices(self)
        found = self._policy
        if not 0 <= self.reset_s < np.inf:
            raise BloxError(f"reset_s is {self.reset_s}", fix="give seconds, 0 or more")
        if not 0 <= self.sigma < 10:
            raise BloxError(f"sigma is {self.sigma}", fix="give a number from 0 to 10")
        if not 0 < self.profiled <= 1:
            raise BloxError(f"profiled is {self.profiled}", fix="give a share above 0, up to 1")
        if (self.entity_weights or self.inside) and not self.entities:
            raise BloxError(
                "inside and entity_weights need entities", fix="say entities=tenant, user or group"
            )
        if self.entities and not isinstance(found, WaterFilling):
            raise BloxError(
                f"{self.policy} knows no entities",
                fix="policy=max_min_fairness_water_filling, with _perf or _packed",
            )
        self._weights, self._by_age, self._prices  # noqa: B018  # faults in them are told now
        job_speeds(self.throughputs, ())

    @property
    def default_performance(self) -> str:
        """Speeds follow the table that the policy knows."""
        return f"throughputs:path={self.throughputs}" if self.throughputs else "throughputs"

    @property
    def reads_durations(self) -> bool:
        """Whether its policy reckons with the steps that jobs have left."""
        return bool(declared(self._policy, "reads_durations"))

    @property
    def uses_seed(self) -> bool:
        """Whether its beliefs are drawn."""
        return self.belief != "oracle"

    def check_cluster(self, spec: ClusterSpec) -> None:
        """Refuses GPU types of which no speed is known."""
        check_speeds(self.throughputs, spec)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        memory = job_state.memory(self, lambda: self._begin(job_state, cluster_state))
        memory.shares.account(job_state, cluster_state)
        if memory.keeps_usage:
            memory.usage.settle(job_state)
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
        found = Schedule.from_fractions(job_state, cluster_state, memory.shares, fill=fill)
        if memory.keeps_usage:
            memory.usage.begin(found, self._price_of(cluster_state), cluster_state)
        return found

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> Array:
        """It is not its turn, or its policy gives it no time at all."""
        wanted = self._remembered(job_state).shares.wanted_by(rows)
        return np.where(wanted > 0, _NOT_ITS_TURN, _NO_TIME)

    def job_columns(self, job_state: JobState) -> dict[str, Array]:
        """What was counted of each job: see `Memory.job_columns`."""
        return self._remembered(job_state).job_columns(job_state)

    def figures(self, job_state: JobState) -> dict[str, float]:
        """For the summary: see `Memory.figures`."""
        return self._remembered(job_state).figures(job_state)

    def _remembered(self, job_state: JobState) -> Memory:
        return job_state.memory(self, lambda: Memory(TimeShares(0)))

    def _begin(self, job_state: JobState, cluster_state: ClusterState) -> Memory:
        """An empty memory; unknown names are reported now."""
        check_known(self._prices, cluster_state.gpu_types, "GPU type")
        if self.entities:
            named = {name for name in getattr(job_state.columns, self.entities).tolist() if name}
            check_known((*self._weights, *self._by_age), sorted(named), self.entities)
        return Memory(TimeShares(len(cluster_state.gpu_types)), self._policy.packed, self._priced)

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
        return numbers(self.entity_weights, "weight of an entity", "NAME:WEIGHT")

    @property
    def _by_age(self) -> dict[str, str]:
        return words(self.inside, ("fairness", "fifo"), "how jobs share inside an entity")

    @property
    def _prices(self) -> dict[str, float]:
        return numbers(self.prices, "price of a GPU type", "TYPE:DOLLARS")

    @property
    def _priced(self) -> bool:
        """Whether the prices of GPUs matter."""
        chosen = self._policy
        return bool(self.prices) or (isinstance(chosen, MaxSumThroughput) and chosen.per_cost)

    def _price_of(self, cluster_state: ClusterState) -> Array:
        """Dollars per GPU and hour, by GPU type."""
        known = COST_PER_HOUR | self._prices
        return np.array([known.get(name, 1.0) for name in cluster_state.gpu_types])

    def _solve(
        self, memory: Memory, chosen: Policy, job_state: JobState, cluster_state: ClusterState
    ) -> None:
        """New fractions for all jobs."""
        belief = self._belief
        rows, speed, base = speeds_now(job_state.active, belief, cluster_state, job_state)
        pairs = belief.pairs(rows, cluster_state, job_state) if chosen.packed else None
        entity = None
        if self.entities:
            chosen, entity = self._with_entities(chosen, rows, job_state)
        chosen = with_parameters(chosen, seed=job_state.seed)
        problem = problem_of(rows, speed, base, cluster_state, job_state, pairs=pairs, entity=entity)
        if self.prices:
            problem = replace(problem, cost_per_hour=self._price_of(cluster_state))
        found = chosen.allocate(problem, memory.of_policy)
        for place in found.relaxed:
            row = int(rows[place])
            memory.relaxed[row] = memory.relaxed.get(row, 0) + 1
        members = np.where(found.members >= 0, rows[found.members], -1)
        speed = _speed_of(found, problem)
        paired = members[:, 1] >= 0
        if self.belief == "learnt" and paired.any():
            can = self._learnt.tried(members[paired], cluster_state, job_state)
            speed[paired] *= can
            in_order = isinstance(chosen, FifoAware)  # the older member goes first
            found = found.parted(can, first=1.0 if in_order else 0.5)
        fractions = np.where(found.fractions > NOTHING, found.fractions, 0.0)
        memory.shares.want(members, fractions, self._seen(speed))
        memory.solved_s, memory.changed = job_state.now, False

    def _welcome(self, memory: Memory, job_state: JobState, cluster_state: ClusterState) -> None:
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
    return with_parameters(policy(name), choice=choice, relax=relax, partners="few")


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
