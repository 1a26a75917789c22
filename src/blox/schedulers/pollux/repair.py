"""Repair: makes any matrix of jobs x nodes an allocation that the cluster can carry out.

Earlier rows have precedence. Nothing is ever added: the answer is at most what was given, element by element.
"""

from __future__ import annotations

import numpy as np

from blox.schedulers.pollux.fitness import Round
from blox.workloads.table import Array


def repair(
    problem: Round, population: Array, rng: np.random.Generator, *, as_artifact: bool = False
) -> Array:
    """A feasible population: at most `most` replicas, one distributed job per node, no node over-full.

    Replicas are cut in a random order of nodes. `as_artifact` does what the Pollux artifact does: it judges
    which jobs are distributed before it cuts replicas, and where two of them meet on a node it also evicts
    the jobs after the second that do not span nodes.
    """
    population = np.array(population)
    if as_artifact:
        if problem.avoid_interference:
            population = _one_distributed(population, bystanders=True)
        return _fill(problem, _cut(problem, population, rng))
    population = _cut(problem, population, rng)
    if problem.avoid_interference:
        population = _one_distributed(population, bystanders=False)
    return _fill(problem, population)


def feasible(problem: Round, population: Array) -> Array:
    """Whether each allocation can be carried out."""
    replicas = population.sum(axis=-1)
    spread = (population > 0).sum(axis=-1)
    fits = (population.sum(axis=-2) <= problem.capacity).all(axis=-1) & (population >= 0).all(axis=(-1, -2))
    fits &= ((replicas <= problem.most) & (spread <= problem.most_nodes)).all(axis=-1)
    if problem.least is not None:
        fits &= ((replicas == 0) | (replicas >= problem.least)).all(axis=-1)
    if problem.allowed is not None:
        fits &= ((population == 0) | problem.allowed).all(axis=(-1, -2))
    if problem.avoid_interference:
        distributed = ((population > 0) & (spread > 1)[..., None]).sum(axis=-2)
        fits &= (distributed <= 1).all(axis=-1)
    return np.asarray(fits)


def _one_distributed(population: Array, *, bystanders: bool) -> Array:
    """Leaves each node to the first job on it that spans nodes; other such jobs lose it."""
    held = population > 0
    spanning = held & (held.sum(axis=-1) > 1)[..., None]
    later = np.cumsum(spanning, axis=-2, dtype=np.int16) > 1
    return np.where(later if bystanders else later & spanning, 0, population)


def _cut(problem: Round, population: Array, rng: np.random.Generator) -> Array:
    """Takes replicas and nodes beyond the most that a job may have, from nodes in a random order."""
    over = (population.sum(axis=-1) > problem.most) | ((population > 0).sum(axis=-1) > problem.most_nodes)
    where = np.nonzero(over)
    if len(where[0]):
        rows = population[where]
        order = np.argsort(rng.random(rows.shape), axis=-1)
        shuffled = np.take_along_axis(rows, order, axis=-1)
        left = problem.most[where[-1]][:, None] - (np.cumsum(shuffled, axis=-1) - shuffled)
        shuffled = np.clip(shuffled, 0, np.maximum(left, 0))
        shuffled[np.cumsum(shuffled > 0, axis=-1) > problem.most_nodes] = 0
        np.put_along_axis(rows, order, shuffled, axis=-1)
        population[where] = rows
    return population


def _fill(problem: Round, population: Array) -> Array:
    """Fills nodes in order of rows until they are full."""
    before = np.cumsum(population, axis=-2) - population
    return np.asarray(np.minimum(population, np.maximum(problem.capacity - before, 0)))
