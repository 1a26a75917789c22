"""Fitness: how good an allocation of GPUs to jobs is, by Pollux's measure.

An allocation is a matrix of jobs x nodes: GPUs of each node for each job. Functions take whole populations
(allocations x jobs x nodes). What an allocation is worth depends on each job by itself only, through its
number of GPUs, whether they are on several nodes, and whether its row changes: a job that changes pays for a
restart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import Array

IDLE = 1e-3  # added to every speedup, so that a job without GPUs counts 1000 where p is -1


@dataclass(frozen=True)
class Round:
    """One scheduling decision, as arrays; rows of jobs in order of precedence, nodes as they are numbered."""

    speedup: Array  # jobs x 2 x (replicas + 1), from `speedup_table`
    current: Array  # jobs x nodes: GPUs held now
    capacity: Array  # GPUs per node
    most: Array  # replicas that each job may have at most
    restart: Array  # factor on a job's speedup if its row changes, from `restart_factor`
    power: float = -1.0  # p: from 1 (sum of speedups) towards minus infinity (the slowest job)
    avoid_interference: bool = True  # at most one job that spans nodes on any node
    most_nodes: int = 16  # per job
    least: Array | None = None  # replicas that each job needs to run at all (None: 1)
    allowed: Array | None = None  # jobs x nodes: where each may stand (None: anywhere)

    def __post_init__(self) -> None:
        jobs, nodes = np.shape(self.current)
        shapes = {"speedup": jobs, "most": jobs, "restart": jobs, "capacity": nodes}
        for name, length in shapes.items():
            if len(getattr(self, name)) != length:
                raise BloxError(f"{name} has {len(getattr(self, name))} rows, not {length}", where="Pollux")
        if not -100 <= self.power <= 1:
            raise BloxError(f"p is {self.power!r}", where="Pollux", fix="p must be between -100 and 1")

    @property
    def scale(self) -> float:
        """What the artifact multiplies speedups by: nodes per GPU."""
        return len(self.capacity) / float(np.sum(self.capacity))


def restart_factor(age_s: Array, restarts: Array, restart_s: float = 30.0) -> Array:
    """What remains of a job's speedup if it restarts once more: its past restarts spread over its age.

    (age - restarts x restart_s) / (age + restart_s), 0 at least (section 4.2.1 of the paper). A job that was
    submitted this very moment gains nothing from being started; the next round will see to it.
    """
    age_s = np.asarray(age_s, dtype=np.float64)
    return np.asarray(np.maximum(age_s - np.asarray(restarts) * restart_s, 0.0) / (age_s + restart_s))


def speedups(problem: Round, population: Array) -> Array:
    """Speedups of every job in every allocation, restarts not counted: allocations x jobs."""
    replicas = population.sum(axis=-1)
    several = (population > 0).sum(axis=-1) > 1
    return np.asarray(problem.speedup[np.arange(population.shape[1]), several.astype(np.intp), replicas])


def fitness(problem: Round, population: Array) -> Array:
    """The power mean of what each job gets out of an allocation: scaled speedups, reduced by restarts."""
    changed = (population != problem.current).any(axis=-1)
    each = speedups(problem, population) * problem.scale
    return power_mean(np.where(changed, each * problem.restart, each) + IDLE, problem.power)


def utility(problem: Round, population: Array) -> Array:
    """Speedup per GPU of the nodes in use: the artifact's second aim, which keeps its search diverse."""
    in_use = (population > 0).any(axis=-2) @ np.asarray(problem.capacity, dtype=np.float64)
    return np.asarray(speedups(problem, population).sum(axis=-1) / np.maximum(in_use, 1))


def power_mean(values: Array, power: float) -> Array:
    """(mean of values^p)^(1/p) along the last axis; the geometric mean where p is 0."""
    if power == 0:
        return np.asarray(np.exp(np.log(values).mean(axis=-1)))
    return np.asarray((values**power).mean(axis=-1) ** (1 / power))
