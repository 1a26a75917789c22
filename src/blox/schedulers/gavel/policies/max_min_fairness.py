from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.policies.agnostic import in_one_pool
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.solver.choose import DEPTH, Choice, highest_level
from blox.schedulers.gavel.solver.deal import Partners, deal
from blox.schedulers.gavel.solver.program import program
from blox.workloads.table import Array


@dataclass(frozen=True)
class MaxMinFairness:
    """The job that gets least gets as much as possible: least attained service in fractions (paper, 4.1).

    What a job gets is its throughput over what it would have if its time were spread over all GPUs alike, per
    weight, times its GPUs. `aware=False` takes every type to be alike; `packed` lets jobs share GPUs. Of many
    optima `choice` takes one (see `choose.py`). Departs from the original in that jobs never get time on a
    type that has fewer GPUs than they take.
    """

    aware: bool = True
    packed: bool = False
    choice: Choice = "fairest"
    partners: Partners = "all"
    depth: int = DEPTH

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        if not len(problem.jobs):
            return Allocation.of_jobs(problem.throughput)
        if self.aware or self.packed:
            return self._solve(problem, problem.throughput)
        if self.choice == "centre":
            return self._solve(problem, np.ones_like(problem.throughput))
        return in_one_pool(problem, np.ones(len(problem.jobs)), self._solve)

    def _solve(self, problem: Problem, speed: Array) -> Allocation:
        rise = problem.weight * (speed @ problem.share) / problem.width
        found = program(problem, speed, rise=rise, packed=self.packed)
        best = highest_level(found, self.choice, self.depth)
        assert best is not None, "without floors there is always an answer"
        return deal(found, best.x, best.t, self.partners)
