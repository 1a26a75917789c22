"""Policies that do not know GPU types apart: one pool of GPUs, time spread over all types alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.problem import Problem
from blox.workloads.table import Array


def in_one_pool(problem: Problem, speed: Array, solve: Callable[[Problem, Array], Allocation]) -> Allocation:
    """The answer of `solve(problem, jobs x types speeds)` for jobs that do `speed` steps/s wherever they are.

    Where every job fits every type, one pool of all GPUs is the same problem, and each job's time goes to the
    types in proportion to their GPUs: that is the only answer that treats types alike.
    """
    if (problem.width.max(initial=0.0) > problem.gpus[problem.gpus > 0]).any():
        return solve(problem, np.repeat(speed[:, None], len(problem.gpus), axis=1))
    pool = replace(
        problem,
        gpu_types=("any",),
        gpus=np.array([problem.gpus.sum()]),
        throughput=np.maximum(speed[:, None], 1e-300),
        cost_per_hour=np.ones(1),
        pairs=None,
    )
    found = solve(pool, speed[:, None])
    return replace(found, fractions=found.fractions * problem.share)


def at_reference(problem: Problem, reference: str = "v100") -> Array:
    """steps/s on the type that an agnostic policy takes for all: `reference`, or the fastest on average."""
    names = problem.gpu_types
    column = names.index(reference) if reference in names else int(problem.throughput.mean(axis=0).argmax())
    chosen: Array = problem.throughput[:, column]
    return np.where(chosen > 0, chosen, problem.throughput.max(axis=1))
