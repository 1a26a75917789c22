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
from blox.profiles.synergy import Surface

Point = tuple[float, float, float]  # cores per GPU, memory per GPU (GB), speed


@dataclass(frozen=True)
class Choice:
    """A job: the points it may be given, and how many of its GPUs stand on which pools."""

    points: tuple[Point, ...]
    gpus_on: tuple[tuple[int, int], ...]  # (pool, GPUs)

    @classmethod
    def of(
        cls,
        surface: Surface | None,
        gpus: int,
        fair: tuple[float, float],
        gpus_on: tuple[tuple[int, int], ...],
    ) -> Choice:
        """The fair share (cores, memory per GPU), and the points of a profile that are not slower."""
        if surface is None:
            return cls(((*fair, 1.0),), gpus_on)
        usual = surface.at(*fair)
        kept = [point for point in surface.points() if point[2] >= usual - 1e-9]
        return cls(_undominated(list(dict.fromkeys((*kept, (*fair, usual))))), gpus_on)


@dataclass(frozen=True)
class Points:
    """The point of each job, the sum of their speeds, and the relative gap to the best bound known."""

    points: tuple[Point, ...]
    objective: float
    gap: float


def _undominated(points: Sequence[Point]) -> tuple[Point, ...]:
    """Points that no other beats in all three; the program loses nothing by leaving the rest out."""
    kept = []
    for point in points:
        better = (
            other
            for other in points
            if other != point and other[0] <= point[0] and other[1] <= point[1] and other[2] >= point[2]
        )
        if next(better, None) is None:
            kept.append(point)
    return tuple(kept)


def best_points(
    jobs: Sequence[Choice], cpu: Sequence[float], memory_gb: Sequence[float], time_limit_s: float = 10.0
) -> Points:
    """The choice with the largest sum of speeds that the pools of cores and memory allow.

    `cpu` and `memory_gb` are the sizes of the pools. With one point each that fits (the fair share), there
    always is an answer; raises BloxError where HiGHS finds none in time.
    """
    try:
        highspy: Any = importlib.import_module("highspy")
    except ImportError:
        raise BloxError(
            "mode=opt is an optimisation problem: it needs highspy, not installed",
            where="synergy",
            fix="pip install 'blox[optimise]'",
        ) from None
    solver = highspy.Highs()
    for option, setting in (
        ("output_flag", False),
        ("threads", 1),
        ("time_limit", float(time_limit_s)),
        ("mip_rel_gap", 0.0),
    ):
        solver.setOptionValue(option, setting)
    solver.passModel(_model(highspy, jobs, cpu, memory_gb))
    solver.run()
    values = np.array(solver.getSolution().col_value)
    if not len(values):
        raise BloxError(
            f"HiGHS found no answer in {time_limit_s:g} s", where="synergy", fix="give it more time_limit_s"
        )
    ends = np.cumsum([len(choice.points) for choice in jobs])
    chosen = tuple(
        choice.points[int(np.argmax(part))] for choice, part in zip(jobs, np.split(values, ends[:-1]))
    )
    objective = float(sum(point[2] for point in chosen))
    return Points(chosen, objective, float(max(0.0, solver.getInfo().mip_gap)))


def _model(highspy: Any, jobs: Sequence[Choice], cpu: Sequence[float], memory_gb: Sequence[float]) -> Any:
    """One column per job and point: 1 where it is chosen. One row per job, one per pool and resource."""
    pools = len(cpu)
    model = highspy.HighsLp()
    columns = [(job, point) for job, choice in enumerate(jobs) for point in choice.points]
    model.num_col_ = len(columns)
    model.num_row_ = len(jobs) + 2 * pools
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = np.array([point[2] for _, point in columns])
    model.col_lower_, model.col_upper_ = np.zeros(len(columns)), np.ones(len(columns))
    one = np.ones(len(jobs))
    infinity = np.full(2 * pools, -highspy.kHighsInf)
    model.row_lower_ = np.concatenate((one, infinity))
    model.row_upper_ = np.concatenate((one, np.asarray(cpu, float), np.asarray(memory_gb, float)))
    start, index, value = [0], [], []
    for job, (cores, memory, _) in columns:
        index.append(job)
        value.append(1.0)
        for pool, gpus in jobs[job].gpus_on:
            index += [len(jobs) + pool, len(jobs) + pools + pool]
            value += [cores * gpus, memory * gpus]
        start.append(len(index))
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.array(start)
    model.a_matrix_.index_ = np.array(index)
    model.a_matrix_.value_ = np.array(value)
    model.integrality_ = [highspy.HighsVarType.kInteger] * len(columns)
    return model
