"""Cores and memory for jobs as a program: one point of its profile for each, the sum of speeds the largest.

Synergy's OPT (OSDI'22, section 4): a choice of one point per job, pools of cores and memory that the jobs on
them share. By HiGHS, with a time limit; how far the answer may be from the best is reported as the gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.extras import from_extra
from blox.placement.walk.room import Share
from blox.profiles.synergy import Surface

Point = tuple[float, float, float]  # cores per GPU, memory per GPU (GB), speed


@dataclass(frozen=True)
class Choice:
    """A job: the points it may be given, and how many of its GPUs stand on which pools.

    `sure` is the place of a point that takes no more than the fair share: all jobs can have theirs at once.
    """

    points: tuple[Point, ...]
    gpus_on: tuple[Share, ...]  # (pool, GPUs)
    sure: int = 0

    @classmethod
    def of(cls, surface: Surface | None, fair: tuple[float, float], gpus_on: tuple[Share, ...]) -> Choice:
        """The fair share (cores, memory per GPU), and the points of a profile that are not slower."""
        if surface is None:
            return cls(((*fair, 1.0),), gpus_on)
        usual = surface.at(*fair)
        kept = [point for point in surface.points() if point[2] >= usual - 1e-9]
        points = _undominated(list(dict.fromkeys((*kept, (*fair, usual)))))
        modest = (i for i, point in enumerate(points) if point[0] <= fair[0] and point[1] <= fair[1])
        return cls(points, gpus_on, next(modest))


def _undominated(points: Sequence[Point]) -> tuple[Point, ...]:
    """Points that no other beats in all three; the program loses nothing by leaving the rest out."""

    def beats(other: Point, point: Point) -> bool:
        return other != point and other[0] <= point[0] and other[1] <= point[1] and other[2] >= point[2]

    return tuple(point for point in points if not any(beats(other, point) for other in points))


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
    add_program(highspy, solver, jobs, cpu, memory_gb)
    for column in range(solver.getNumCol()):
        solver.changeColIntegrality(column, highspy.HighsVarType.kInteger)
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


def add_program(
    highspy: Any, solver: Any, jobs: Sequence[Choice], cpu: Sequence[float], memory_gb: Sequence[float]
) -> None:
    """Each column is the part of a job that runs at a point; every job whole, no pool beyond its size."""
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    for _ in jobs:
        solver.addRow(1.0, 1.0, 0, [], [])
    for size in (*cpu, *memory_gb):
        solver.addRow(-highspy.kHighsInf, size, 0, [], [])
    for job, choice in enumerate(jobs):
        for cores, memory, speed in choice.points:
            index, value = [job], [1.0]
            for pool, gpus in choice.gpus_on:
                index += [len(jobs) + pool, len(jobs) + len(cpu) + pool]
                value += [cores * gpus, memory * gpus]
            solver.addCol(speed, 0.0, 1.0, len(index), index, value)


def solver_of(time_limit_s: float) -> tuple[Any, Any]:
    """HiGHS, and its solver: one thread, until the optimum is proved or time is up."""
    highspy = from_extra("highspy", "optimise", "mode=opt of synergy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", float(time_limit_s))
    solver.setOptionValue("mip_rel_gap", 0.0)
    return highspy, solver
