from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.solver.deal import deal
from blox.schedulers.gavel.solver.interior import centre
from blox.schedulers.gavel.solver.program import Program, program
from blox.workloads.table import Array


@dataclass(frozen=True)
class StrategyProof:
    """Proportional fairness with payments: no job gains by misstating its throughputs (Cole et al., EC'13).

    The product of all jobs' throughputs is as large as possible; then each job keeps of its share what its
    presence leaves to the others (`discount`). `objective` is the geometric mean of the normalised
    throughputs before that. `aware=False` takes every type to be alike (the original's own version of that
    cannot be run). Jobs of one kind have one discount, so a problem is solved once more per kind, not per
    job.
    """

    aware: bool = True
    packed = False

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        if not len(problem.jobs):
            return Allocation.of_jobs(problem.throughput)
        speed = problem.throughput if self.aware else np.where(problem.usable, 1.0, 0.0)
        found = program(problem, speed, label=problem.width / problem.weight)
        x = centre(found, log=True).x
        mine = found.speeds(x) / found.count
        discount = np.array([_left(found, mine, kind) for kind in range(len(found.count))])[found.kind_of]
        unit = problem.width / (problem.weight * (speed @ problem.share))
        mean = float(np.exp(np.log(unit * mine[found.kind_of]).mean()))
        dealt = deal(found, x, mean)
        return replace(dealt, fractions=dealt.fractions * discount[:, None], discount=discount)


def _left(found: Program, mine: Array, kind: int) -> float:
    """The product over the others of what they have beside a job of this kind over what they have without."""
    count = found.count - (np.arange(len(found.count)) == kind)
    if not count.any():
        return 1.0
    stay = count > 0
    rows = np.flatnonzero(stay)
    fewer = replace(
        found,
        count=count[stay],
        width=found.width[stay],
        first=np.arange(len(rows)),
        second=np.full(len(rows), -1),
        speed_first=found.speed_first[rows],
        speed_second=found.speed_second[rows],
        rise=found.rise[stay],
        floor=found.floor[stay],
        gain=found.gain[rows],
    )
    without = fewer.speeds(centre(fewer, log=True).x) / fewer.count
    return float(np.exp((count[stay] * np.log(mine[stay] / without)).sum()))
