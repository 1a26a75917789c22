"""Cores and memory for jobs as a program: one point of its profile for each, the sum of speeds the largest.

Synergy's OPT (OSDI'22, section 4): a choice of one point per job, pools of cores and memory that the jobs on
them share. By HiGHS, with a time limit; how far the answer may be from the best is reported as the gap.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.placement.synergy.model import Choice, Point, model_of


@dataclass(frozen=True)
class Points:
    """The point of each job, the sum of their speeds, and the relative gap to the best bound known."""

    points: tuple[Point, ...]
    objective: float
    gap: float


def best_points(
    jobs: Sequence[Choice], cpu: Sequence[float], memory_gb: Sequence[float], time_limit_s: float = 10.0
) -> Points:
    """The choice with the largest sum of speeds that the pools of cores and memory allow.

    `cpu` and `memory_gb` are the sizes of the pools. Where HiGHS finds no answer in time, every job has its
    sure point, and the gap is that to the best points of all.
    """
    highspy, solver = solver_of(time_limit_s)
    model = model_of(highspy, jobs, cpu, memory_gb)
    model.integrality_ = [highspy.HighsVarType.kInteger] * model.num_col_
    solver.passModel(model)
    solver.run()
    if solver.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        sure = tuple(choice.points[choice.sure] for choice in jobs)
        reached = float(sum(point[2] for point in sure))
        bound = sum(max(point[2] for point in choice.points) for choice in jobs)
        return Points(sure, reached, bound / reached - 1)
    values = np.array(solver.getSolution().col_value)
    ends = np.cumsum([len(choice.points) for choice in jobs])
    parts = np.split(values, ends[:-1])
    chosen = tuple(choice.points[int(np.argmax(part))] for choice, part in zip(jobs, parts))
    objective = float(sum(point[2] for point in chosen))
    return Points(chosen, objective, float(max(0.0, solver.getInfo().mip_gap)))


def solver_of(time_limit_s: float) -> tuple[Any, Any]:
    """HiGHS, and a solver of it that uses one thread and stops at no gap but none."""
    try:
        highspy: Any = importlib.import_module("highspy")
    except ImportError:
        raise BloxError(
            "mode=opt is an optimisation problem: it needs highspy, not installed",
            where="synergy",
            fix="pip install 'blox[optimise]'",
        ) from None
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", float(time_limit_s))
    solver.setOptionValue("mip_rel_gap", 0.0)
    return highspy, solver
