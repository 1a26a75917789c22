from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.policies.agnostic import at_reference, in_one_pool
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.solver.choose import DEPTH, Choice, highest_level, solver_for
from blox.schedulers.gavel.solver.deal import Partners, deal
from blox.schedulers.gavel.solver.program import Program, program
from blox.workloads.table import Array

PRECISION = 1e-9
MOST_ROUNDS = 60


@dataclass(frozen=True)
class FinishTimeFairness:
    """The largest rho of all jobs is as small as possible (Themis' objective; paper, 4.2): `objective`.

    rho is the time from submission to the expected end over the same with an n-th part of the cluster. The
    latter grows by progress made since the last call at the isolated speed of that call, kept in `memory`.
    For a given rho the demands on throughput are linear; rho is found by Newton's method on the program's
    prices, to 1e-9. Weights do not count. The original divides throughputs by weights when packed:
    `divide_by_weight` does that too.
    """

    aware: bool = True
    packed: bool = False
    choice: Choice = "fairest"
    partners: Partners = "all"
    depth: int = DEPTH
    reference: str = "v100"
    divide_by_weight: bool = False
    reads_durations = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        memory = {} if memory is None else memory
        if not len(problem.jobs):
            memory.clear()
            return Allocation.of_jobs(problem.throughput)
        if self.aware or self.packed:
            speed = problem.throughput
            alone = (problem.isolated_fractions() * speed).sum(axis=1)
            usual = self._so_far(problem, alone, memory) + problem.remaining_steps / alone
            return self._solve(problem, speed, usual)
        same = at_reference(problem, self.reference)
        alone = problem.isolated_fractions().sum(axis=1) * same
        usual = self._so_far(problem, alone, memory) + problem.remaining_steps / alone
        return in_one_pool(problem, same, lambda pool, speed: self._solve(pool, speed, usual))

    def _so_far(self, problem: Problem, alone: Array, memory: dict[str, Any]) -> Array:
        """Seconds that each job's progress would have taken in isolation."""
        before = memory.get("jobs", {})
        now = {}
        for job, steps, speed in zip(problem.jobs.tolist(), problem.remaining_steps.tolist(), alone.tolist()):
            old_steps, old_speed, so_far = before.get(job, (steps, 1.0, 0.0))
            now[job] = (steps, speed, so_far + (old_steps - steps) / old_speed)
        memory["jobs"] = now
        return np.array([each[2] for each in now.values()])

    def _solve(self, problem: Problem, speed: Array, usual: Array) -> Allocation:
        steps = problem.remaining_steps * (problem.weight if self.divide_by_weight and self.packed else 1.0)
        # two jobs of one kind here also have the same steps left and the same times behind them
        label = np.unique(np.column_stack([usual, problem.elapsed_s]), axis=0, return_inverse=True)[1].ravel()
        found = program(problem, speed, rise=np.maximum(steps, 1e-300), label=label, packed=self.packed)
        one_of = np.unique(found.kind_of, return_index=True)[1]
        usual, elapsed = usual[one_of], problem.elapsed_s[one_of]
        rho = _smallest_rho(found, usual, elapsed)
        demand = found.rise / (rho * usual - elapsed)
        best = highest_level(found.with_levels(demand, np.zeros(len(demand))), self.choice, self.depth)
        assert best is not None, "without floors there is always an answer"
        return deal(found, best.x, _rho(found, best.x, usual, elapsed), self.partners)


def _rho(found: Program, x: Array, usual: Array, elapsed: Array) -> float:
    speed = np.maximum(found.speeds(x) / found.count, 1e-300)
    return float(((elapsed + found.rise / speed) / usual).max())


def _smallest_rho(found: Program, usual: Array, elapsed: Array) -> float:
    """Newton's method from below: at each rho the prices say how much rho must at least grow."""
    zero = np.zeros(len(usual))
    solve = solver_for(found, "fairest")
    lowest = float((elapsed / usual).max())
    rho, best = max(2.0 * lowest, 1.0), np.inf
    for _ in range(MOST_ROUNDS):
        demand = found.rise / (rho * usual - elapsed)
        answer = solve(demand, zero)
        if answer is None:
            break
        best = min(best, _rho(found, answer.x, usual, elapsed))
        part = np.maximum(answer.binding, 0.0)
        floor = _least(part / part.sum(), answer.t, rho, usual, elapsed)
        if best - floor <= PRECISION * best:
            break
        rho = max(floor, lowest * (1.0 + 1e-6), 1e-300)
    return best


def _least(part: Array, t: float, rho: float, usual: Array, elapsed: Array) -> float:
    """The smallest r at which demands, weighted by `part` (their prices), come to no more than t."""
    late, part = (elapsed / usual)[part > 0], part[part > 0]
    room = part * (rho - late)
    low = float(late.max())
    high = max(rho, low) + 1.0
    while float((room / (high - late)).sum()) > t:
        high = low + 2.0 * (high - low)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if float((room / (middle - late)).sum()) > t else (low, middle)
    return high
