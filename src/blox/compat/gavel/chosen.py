"""Policies whose programs have many optima, with the one that the original's solver ends at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.compat.gavel.blocks import Blocks
from blox.compat.gavel.conic import solve
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.policies.by_name import Policy
from blox.schedulers.gavel.problem import Problem
from blox.workloads.table import Array

LEAST_S, MOST_S = 100.0, 1e6  # between which the original looks for a makespan at first
CLOSE_ENOUGH = 1.05


@dataclass(frozen=True)
class ChosenMaxMin:
    """Max-min fairness: minimises -t such that every job's level is at least t."""

    aware: bool
    otherwise: Policy
    packed = False

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        if not len(problem.jobs):
            return Allocation.of_jobs(problem.throughput)
        speed = problem.throughput if self.aware else np.ones_like(problem.throughput)
        level = speed * (problem.width / problem.weight / (speed @ problem.share))[:, None]
        found = solve(_blocks(problem, level, np.zeros(len(level)), 1.0))
        if found.status != "optimal":
            return self.otherwise.allocate(problem, memory)
        return Allocation.of_jobs(np.clip(found.variables, 0.0, 1.0))


@dataclass(frozen=True)
class ChosenDuration:
    """Makespan: bisects the time to within 5 %; then any fractions will do that keep to it.

    Which times can be kept to follows from the shortest one, so that only the last is solved for.
    """

    aware: bool
    otherwise: Policy
    packed = False
    reads_durations = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        best = self.otherwise.allocate(problem, memory)
        if not len(problem.jobs) or not 0.0 < best.objective < np.inf:
            return best
        speed = problem.throughput if self.aware else _as_reference(problem)
        time_s = bisected(best.objective)
        found = solve(_blocks(problem, speed, problem.remaining_steps / time_s, 0.0))
        if found.status != "optimal":
            return best
        return Allocation.of_jobs(np.clip(found.variables, 0.0, 1.0), time_s)


def bisected(shortest_s: float) -> float:
    """The time at which the original's bisection ends, where every time from `shortest_s` on is possible."""
    low, window = LEAST_S, MOST_S
    while True:
        high = window
        while CLOSE_ENOUGH * low < high:
            middle = (low + high) / 2.0
            low, high = (low, middle) if middle >= shortest_s else (middle, high)
        if high < window:
            return high
        low, window = window, 10.0 * window  # the end of a window itself is never tried


@dataclass(frozen=True)
class ChosenFinishTime:
    """Finish-time fairness: a second-order cone per job holds the reciprocal of its throughput."""

    aware: bool
    packed = False
    reads_durations = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        memory = {} if memory is None else memory
        if not len(problem.jobs):
            memory.clear()
            return Allocation.of_jobs(problem.throughput)
        speed = problem.throughput if self.aware else _as_reference(problem)
        isolated = problem.isolated_fractions()
        alone = (isolated * speed).sum(axis=1)
        usual = isolated_so_far(problem, alone, memory) + problem.remaining_steps / alone
        found = solve(_finish_times(problem, speed, usual))
        if not np.isfinite(found.variables).all():
            return Allocation.of_jobs(isolated)
        return Allocation.of_jobs(np.clip(found.variables[:, : len(problem.gpus)], 0.0, 1.0))


def _as_reference(problem: Problem) -> Array:
    """Throughputs as if every type were the V100 (or the last by name, where there is none)."""
    types = problem.gpu_types
    column = types.index("v100") if "v100" in types else len(types) - 1
    return np.repeat(problem.throughput[:, [column]], len(types), axis=1)


def isolated_so_far(problem: Problem, alone: Array, memory: dict[str, Any]) -> Array:
    """Seconds that progress would have taken in isolation, each piece at the speed of the call before."""
    before, now = memory.get("jobs", {}), {}
    for job, steps, speed in zip(problem.jobs.tolist(), problem.remaining_steps.tolist(), alone.tolist()):
        old_steps, old_speed, so_far = before.get(job, (steps, 1.0, 0.0))
        now[job] = (steps, speed, so_far + (old_steps - steps) / old_speed)
    memory["jobs"] = now
    return np.array([each[2] for each in now.values()])


def _blocks(problem: Problem, level: Array, least: Array, goal: float) -> Blocks:
    """Rows: no fraction is negative, a job's time is at most 1, level . x + goal t >= least."""
    jobs, types = level.shape
    rows = np.zeros((jobs, types + 2, types))
    rows[:, np.arange(types), np.arange(types)] = -1.0
    rows[:, types], rows[:, types + 1] = 1.0, -level
    on_t, limit = np.zeros((jobs, types + 2)), np.zeros((jobs, types + 2))
    on_t[:, -1], limit[:, -2], limit[:, -1] = -goal, 1.0, -least
    return Blocks(rows, on_t, limit, problem.width, problem.gpus, goal)


def _finish_times(problem: Problem, speed: Array, usual: Array) -> Blocks:
    """As above with one more variable u per job: steps u + elapsed <= usual t, and u >= 1 / throughput.

    The latter is (throughput + u, throughput - u, 2) in a second-order cone.
    """
    jobs, types = speed.shape
    rows = np.zeros((jobs, types + 5, types + 1))
    rows[:, np.arange(types), np.arange(types)] = -1.0
    rows[:, types, :types] = 1.0
    rows[:, types + 1, types] = problem.remaining_steps / usual
    rows[:, types + 2, :types] = rows[:, types + 3, :types] = -speed
    rows[:, types + 2, types], rows[:, types + 3, types] = -1.0, 1.0
    on_t, limit = np.zeros((jobs, types + 5)), np.zeros((jobs, types + 5))
    on_t[:, types + 1] = -1.0
    limit[:, types], limit[:, types + 1], limit[:, types + 4] = 1.0, -problem.elapsed_s / usual, 2.0
    return Blocks(rows, on_t, limit, problem.width, problem.gpus, 1.0, cone=True)
