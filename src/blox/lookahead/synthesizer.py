"""Synthesizer: at set times, looks ahead with every combination of policies and lets the best one decide.

Paper, section 5.2 and appendix A. It is one object with the verbs of all three kinds: it admits, schedules
and places by handing each question on to the combination that rules. It reads the two states and changes
nothing but its memory, so the loop knows nothing of it.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from blox.lookahead.ahead import Conditions, Policies, look_ahead
from blox.lookahead.arrivals import come_again
from blox.lookahead.auto import Auto
from blox.lookahead.beliefs import belief_named, draws, estimates, reads_durations
from blox.lookahead.clocks import patient
from blox.lookahead.objective import Objective, objective_from
from blox.lookahead.outcome import Measured, outcome
from blox.optional import declared
from blox.protocols import promise_of
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec
from blox.state.jobs import JobState
from blox.state.plan import Allocation, Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_GROWTH = 0.25  # of the intervals at which jobs that share time take turns ahead (`clocks.py`)
_LONGEST_S = 3600.0  # rounds ahead grow up to that: JCTs are 2 to 4 % longer, in all combinations alike
_STANDS = 1 / 10  # of the time for which jobs come ahead: a choice is not made again before that has passed
_ON_TIME = 1e-9  # of an interval: how far before its end a wake-up may be and count as its end


@dataclass(frozen=True)
class Combination:
    """Policies by the name that results give them."""

    name: str
    policies: Policies


@dataclass(frozen=True)
class Choice:
    """One choice: the figures of every combination (combination x figure), their scores, the choice."""

    time_s: float
    values: tuple[tuple[float, ...], ...]
    scores: tuple[float, ...]
    ruling: int
    jobs: int  # present then
    rounds: int  # looked ahead, of all combinations together


@dataclass
class Reign:
    """What a synthesizer remembers: which combination rules, and its choices so far."""

    ruling: int = 0
    next: int = 0  # the number of the interval in which it decides next
    log: list[Choice] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list, repr=False)  # of each choice; differs from run to run

    def __deepcopy__(self, seen: object) -> Reign:
        return replace(self, log=self.log.copy(), cpu_s=self.cpu_s.copy())


@dataclass(frozen=True)
class Synthesizer:
    """Chooses among `combinations` every `auto.every` rounds while jobs ask for more GPUs than there are.

    Each looks ahead until all jobs are done, those that come included (`arrivals.py`). What days ahead decide
    does not change within the hour: a choice stands for at least a tenth of the time for which jobs come.
    The first combination rules until the first choice. One that is better by no more than `auto.hysteresis`
    does not take over; of equals, the ruling one stays.
    """

    auto: Auto
    combinations: tuple[Combination, ...] = field(repr=False)
    conditions: Conditions = field(repr=False)
    measured: Measured = field(default=Measured(), repr=False)
    objective: Objective = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective", objective_from(self.auto.objective))

    # -- the verbs: what the ruling combination answers ------------------------------------------------

    def accept(self, new_jobs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        return self._ruling(cluster_state, job_state).admission.accept(new_jobs, cluster_state, job_state)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        return self._ruling(cluster_state, job_state).scheduler.schedule(job_state, cluster_state)

    def place(
        self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState
    ) -> Allocation | Plan:
        return self._ruling(cluster_state, job_state).placement.place(schedule, cluster_state, job_state)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Until the ruling policies may change their answers, or until the next choice."""
        ruling = self._ruling(cluster_state, job_state)
        parts = (ruling.admission, ruling.scheduler, ruling.placement)
        soonest = min(promise_of(part)(job_state, cluster_state) for part in parts)
        return min(soonest, self._next_choice_s(cluster_state, job_state))

    # -- deciding --------------------------------------------------------------------------------------

    def _ruling(self, cluster_state: ClusterState, job_state: JobState) -> Policies:
        """The policies that decide now; which these are is settled at the first question of an interval."""
        reign = job_state.memory(self, Reign)
        interval = self._interval(job_state)
        if interval >= reign.next and self._contested(cluster_state, job_state):
            stands_s = _STANDS * come_again_s(job_state, self.auto)
            reign.next = interval + max(1, math.ceil(stands_s / self._interval_s))
            self._decide(reign, cluster_state, job_state)
        return self.combinations[reign.ruling].policies

    def _interval(self, job_state: JobState) -> int:
        """The number of the interval of `auto.every` rounds that it is now."""
        return math.floor(job_state.now / self._interval_s + _ON_TIME)

    def _next_choice_s(self, cluster_state: ClusterState, job_state: JobState) -> float:
        if not self._contested(cluster_state, job_state):
            return math.inf  # unless something happens
        following = job_state.memory(self, Reign).next
        if self._interval(job_state) >= following:
            return job_state.now
        return (following - 2 * _ON_TIME) * self._interval_s  # before any wake-up at which it may choose

    def _contested(self, cluster_state: ClusterState, job_state: JobState) -> bool:
        """Whether it matters which policies decide: some job has to wait, or could run on more GPUs."""
        if not _present(job_state):
            return False
        held = job_state.columns.gpus.take(job_state.waiting).sum()
        if held + job_state.gpus.sum() > cluster_state.total_gpus or not job_state.running.all():
            return True
        return any(declared(part, "resizes") for part in self._parts("scheduler"))

    @property
    def _interval_s(self) -> float:
        return self.auto.every * self.conditions.round_s

    def _decide(self, reign: Reign, cluster_state: ClusterState, job_state: JobState) -> None:
        """Looks ahead with every combination; the best one rules from now on."""
        begin = time.process_time()
        values, rounds = self._weigh(cluster_state, job_state)
        scores = self.objective.scores(values)
        best, needed = int(scores.argmin()), scores[reign.ruling] * (1 - self.auto.hysteresis)
        if scores[best] < needed:
            reign.ruling = best
        present = _present(job_state)
        made = Choice(job_state.now, tuple(values), tuple(scores.tolist()), reign.ruling, present, rounds)
        reign.log.append(made)
        reign.cpu_s.append(time.process_time() - begin)

    def _weigh(self, cluster_state: ClusterState, job_state: JobState) -> tuple[list[tuple[float, ...]], int]:
        """The figures that each combination would give, and the rounds that it took to find them."""
        now, round_s = job_state.now, self.conditions.round_s
        believed = belief_named(self.auto.belief)(job_state, 0)
        conditions = replace(self.conditions, clock=patient(self.conditions.clock, now, _GROWTH, _LONGEST_S))
        coming = come_again(job_state, believed, come_again_s(job_state, self.auto))
        values, rounds, of_jobs = [], 0, self.objective.of_jobs
        for each in self.combinations:
            ahead = look_ahead(
                cluster_state, job_state, each.policies, conditions, believed,
                arrivals=coming, jobs_alone=of_jobs,
            )  # fmt: skip
            found = outcome(ahead, round_s=round_s, jobs_alone=of_jobs, measured=self.measured)
            values.append(self.objective.values(found))
            rounds += ahead.manager.rounds
        return values, rounds

    # -- what it says of itself, besides -------------------------------------------------------------------

    def figures(self, job_state: JobState) -> dict[str, float]:
        """Of every part that says some, and how often it decided and changed its mind."""
        found: dict[str, float] = {}
        for part in self._parts("scheduler", "placement"):
            if reported := declared(part, "figures"):
                found.update(reported(job_state))
        log = job_state.memory(self, Reign).log
        rulers = [0, *(choice.ruling for choice in log)]
        changes = sum(one != other for one, other in itertools.pairwise(rulers))
        return {**found, "choices": len(log), "changes_of_policy": changes}

    def choices(self, job_state: JobState) -> dict[str, Array]:
        """One row per choice and combination: its figures, its score (1: the best) and whether it rules."""
        log, each = job_state.memory(self, Reign).log, len(self.combinations)
        names = np.array([combination.name for combination in self.combinations], dtype=object)
        values = np.array([choice.values for choice in log]).reshape(
            len(log) * each, len(self.objective.names)
        )
        rules = np.array([choice.ruling for choice in log], dtype=np.int64)
        return {
            "time_s": np.repeat([choice.time_s for choice in log], each),
            "combination": np.tile(names, len(log)),
            "rules": (np.tile(np.arange(each), len(log)) == np.repeat(rules, each)).astype(np.int64),
            **{name: values[:, at] for at, name in enumerate(self.objective.names)},
            "score": np.array([choice.scores for choice in log]).reshape(-1),
            "jobs": np.repeat([choice.jobs for choice in log], each),
            "rounds_ahead": np.repeat([choice.rounds for choice in log], each),
        }

    def timings(self, job_state: JobState) -> dict[str, float]:
        """CPU time of all choices and of the longest (s)."""
        spent = job_state.memory(self, Reign).cpu_s
        return {"choices_cpu_s": sum(spent), "longest_choice_cpu_s": max(spent, default=0.0)}

    def check_cluster(self, spec: ClusterSpec) -> None:
        for part in self._parts("scheduler", "placement"):
            if check := declared(part, "check_cluster"):
                check(spec)

    @property
    def chooses_among(self) -> tuple[Any, ...]:
        return tuple(self._parts("admission", "scheduler", "placement"))

    @property
    def reads_durations(self) -> bool:
        return reads_durations(self.auto.belief)

    @property
    def estimates_durations(self) -> bool:
        return estimates(self.auto.belief)

    @property
    def uses_seed(self) -> bool:
        return draws(self.auto.belief)

    @property
    def needs_columns(self) -> tuple[str, ...]:
        asked = (declared(part, "needs_columns") for part in self.chooses_among)
        return tuple(dict.fromkeys(name for names in asked for name in names))

    @property
    def resizes(self) -> bool:
        """Only where all of them do: a rigid one could not run a job that is larger than the cluster."""
        return all(declared(part, "resizes") for part in self._parts("scheduler"))

    @property
    def ignores_nodes(self) -> bool:
        return all(declared(part, "ignores_nodes") for part in self._parts("placement"))

    @property
    def app_column(self) -> str:
        columns = {declared(part, "app_column") for part in self._parts("scheduler")}
        return columns.pop() if len(columns) == 1 else "group"

    def _parts(self, *kinds: str) -> list[Any]:
        """The parts of these kinds in all combinations, each once."""
        found = [getattr(each.policies, kind) for each in self.combinations for kind in kinds]
        return list({id(part): part for part in found}.values())


def come_again_s(job_state: JobState, auto: Auto) -> float:
    """For how long jobs come ahead: as long as the past is, up to the horizon."""
    return min(auto.horizon, job_state.now) if auto.arrivals == "again" else 0.0


def _present(job_state: JobState) -> int:
    """How many jobs have been submitted and have not finished."""
    return job_state.active_count + len(job_state.waiting)
