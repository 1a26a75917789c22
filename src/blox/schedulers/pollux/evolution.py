"""Evolution: the Pollux artifact's own search, operator by operator (NSGA-II over matrices of jobs x nodes).

For comparison, and for users who want its very behaviour; `search` finds better allocations in a fraction
of the time. Departs from the artifact in two things: offspring that repeat what is there already are replaced
a few times only (the artifact mates up to 100 times per generation, which takes it half a minute for a single
job), and repair is the mended one unless `as_artifact` asks for the original's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from blox.schedulers.pollux.fitness import Round, fitness, utility
from blox.schedulers.pollux.repair import repair
from blox.workloads.table import Array

CROSSOVER = 0.9  # chance that a pair of parents swaps rows
RESET = 0.1  # chance that a job's row becomes what it is now
THIN = 0.1  # chance that a row loses GPUs, and then of each of its nodes to be given up
MATINGS = 3  # attempts at offspring that are new


class Evolved(NamedTuple):
    """The best allocation (jobs x nodes), and all that none beats in both aims: the start of a next time."""

    best: Array
    front: Array


def evolve(
    problem: Round,
    rng: np.random.Generator,
    *,
    population: int = 100,
    generations: int = 100,
    start: Array | None = None,
    as_artifact: bool = False,
) -> Evolved:
    """Breeds allocations for fitness and utility; the first generation is `start`, or the current one.

    Rows of `start` (allocations x jobs x nodes) must be those of `problem`: the artifact does not see to that
    when the order of jobs changes between rounds.
    """
    given = problem.current[np.newaxis] if start is None else np.asarray(start)
    here = np.unique(repair(problem, given, rng, as_artifact=as_artifact), axis=0)
    aims = _aims(problem, here)
    order, rank, crowding = _survivors(aims, population)
    here, aims = here[order], aims[order]
    for _ in range(generations - 1):
        bred = np.empty((0, *here.shape[1:]), dtype=here.dtype)
        for _ in range(MATINGS):
            parents = _tournament(rank, crowding, population - len(bred), rng)
            children = _mutated(problem, _crossed(here[parents], rng), rng)
            children = repair(problem, children, rng, as_artifact=as_artifact)
            bred = np.concatenate([bred, children])
            bred = bred[_first_of_its_kind(np.concatenate([here, bred]))[len(here) :]]
            if len(bred) >= population:
                break
        here, aims = np.concatenate([here, bred]), np.concatenate([aims, _aims(problem, bred)])
        order, rank, crowding = _survivors(aims, population)
        here, aims = here[order], aims[order]
    return Evolved(here[np.argmax(aims[:, 0])], here[rank == 0])


def _aims(problem: Round, population: Array) -> Array:
    return np.stack([fitness(problem, population), utility(problem, population)], axis=1)


def _first_of_its_kind(population: Array) -> Array:
    """Which allocations are not like an earlier one."""
    flat = np.ascontiguousarray(population.reshape(len(population), -1), dtype=np.int16)
    _, first = np.unique(flat.view(f"V{2 * flat.shape[1]}").ravel(), return_index=True)
    found = np.zeros(len(population), dtype=bool)
    found[first] = True
    return found


def _tournament(rank: Array, crowding: Array, count: int, rng: np.random.Generator) -> Array:
    """Pairs of parents (2 x pairs), each the better of two drawn: by rank, then crowding, then chance."""
    pairs = -(-count // 2)
    one, other = rng.integers(0, len(rank), (2, 2, pairs))
    level = (rank[one] == rank[other]) & (crowding[one] == crowding[other])
    better = (rank[one] < rank[other]) | ((rank[one] == rank[other]) & (crowding[one] > crowding[other]))
    return np.asarray(np.where(np.where(level, rng.random(one.shape) < 0.5, better), one, other))


def _crossed(parents: Array, rng: np.random.Generator) -> Array:
    """Two children per pair: their rows above a random cut are swapped."""
    one, other = parents
    jobs = one.shape[1]
    cut = np.where(rng.random(len(one)) < CROSSOVER, rng.integers(0, jobs + 1, len(one)), 0)
    above = (np.arange(jobs) < cut[:, None])[..., None]
    return np.concatenate([np.where(above, other, one), np.where(above, one, other)])


def _mutated(problem: Round, children: Array, rng: np.random.Generator) -> Array:
    """Rows reset to now, rows thinned, and GPUs added on nodes that have some free."""
    shape = children.shape
    reset = rng.random(shape[:2]) < RESET
    children = np.where(reset[..., None], problem.current, children)
    thinned = (rng.random((*shape[:2], 1)) < THIN) & (rng.random(shape) < THIN)
    children[thinned] = 0
    capacity = np.asarray(problem.capacity)
    free = children.sum(axis=1) < capacity
    there = children > 0
    chance = np.where(there, 1 / np.maximum(there.sum(axis=1), 1)[:, None], 0.0)
    grown = (rng.random(shape) < 1 / shape[1]) | (rng.random(shape) < chance)
    cells = np.nonzero(grown & free[:, None])
    children[cells] = rng.integers(children[cells], capacity[cells[2]], endpoint=True)
    return children


def _survivors(aims: Array, count: int) -> tuple[Array, Array, Array]:
    """(rows, ranks, crowding) of the best: by rank of dominance, then by distance to their neighbours."""
    rank = _ranks(aims)
    crowding = np.zeros(len(aims))
    for front in range(int(rank.max()) + 1):
        members = np.flatnonzero(rank == front)
        for aim in aims[members].T:
            order = members[np.argsort(aim, kind="stable")]
            values = np.sort(aim, kind="stable")
            crowding[order[[0, -1]]] = np.inf
            if values[-1] > values[0]:
                crowding[order[1:-1]] += (values[2:] - values[:-2]) / (values[-1] - values[0])
        if (rank <= front).sum() >= count:
            break
    order = np.lexsort((-crowding, rank))[:count]
    return order, rank[order], crowding[order]


def _ranks(aims: Array) -> Array:
    """How many times the undominated must be set aside before a row is one of them."""
    # whether the row of the first index beats that of the second
    wins = (aims[:, None] >= aims).all(axis=2) & (aims[:, None] > aims).any(axis=2)
    dominated = np.asarray(wins)
    beaten = dominated.sum(axis=0)
    rank = np.full(len(aims), -1)
    front = 0
    while (rank < 0).any():
        members = (beaten == 0) & (rank < 0)
        rank[members] = front
        beaten = beaten - dominated[members].sum(axis=0)
        front += 1
    return rank
