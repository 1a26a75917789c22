"""Search: the allocation of a round with the best fitness, by prices, ruin and recreation.

The artifact searches blindly, with a genetic algorithm over matrices of jobs x nodes (`evolution`). But
fitness adds up over jobs, each of which only cares how many GPUs it has, whether they span nodes, and whether
it must restart. So this search asks what a GPU is worth: at the right price, jobs that each take what suits
them best want just as many GPUs as there are. Allocations are built by placing jobs one after the other at
about that price. Then, again and again, a few jobs are taken out of each and placed anew, and what is not
worse is kept. A population goes through this side by side: a step is a few array operations on all of it.
"""

from __future__ import annotations

import time

import numpy as np

from blox.errors import BloxError
from blox.schedulers.pollux.fitness import IDLE, Round
from blox.schedulers.pollux.repair import feasible
from blox.workloads.table import Array

TAKEN_OUT = 4  # jobs at most that are placed anew in a step
PATIENCE = (14, 0.2)  # generations without a better allocation until the search ends: so many, plus per job
ENOUGH = (12, 2)  # generations at most: so many, plus per job; more bring next to nothing
CULL_EVERY = 8  # generations; the worst quarter of the population is then replaced by the best
# A job that by the formula gains nothing from a restart still prefers GPUs that no other job wants.
LEAST_FACTOR = 1e-9


def search(
    problem: Round,
    rng: np.random.Generator,
    *,
    population: int = 32,
    generations: int = 100,
    budget_s: float | None = None,
) -> Array:
    """The best allocation found (jobs x nodes), never worse than the current one if that is feasible.

    Ends after `generations` (fewer where there are few jobs: ENOUGH), after some without a better one
    (PATIENCE), or when `budget_s` seconds have passed (the answer then depends on the machine). The same
    generator gives the same answer.
    """
    if population < 2 or generations < 0:
        raise BloxError(
            f"population is {population}, generations {generations}",
            where="Pollux",
            fix="population must be 2 or more, generations 0 or more",
        )
    end = None if budget_s is None else time.perf_counter() + budget_s
    jobs, nodes = problem.current.shape
    if not jobs or not nodes:
        return np.zeros((jobs, nodes), dtype=np.int64)
    herd = _Herd(problem, population, rng)
    herd.build()
    best, since = np.inf, 0
    for generation in range(min(generations, ENOUGH[0] + ENOUGH[1] * jobs)):
        total = float(herd.cost.sum(axis=1).min())
        best, since = (total, 0) if total < best - 1e-9 * abs(total) else (best, since + 1)
        if since > PATIENCE[0] + PATIENCE[1] * jobs or (end is not None and time.perf_counter() > end):
            break
        if generation % CULL_EVERY == CULL_EVERY - 1:
            herd.cull()
        herd.step(int(rng.integers(1, min(TAKEN_OUT, jobs) + 1)))
    return np.asarray(herd.held[int(np.argmin(herd.cost.sum(axis=1)))])


class _Herd:
    """Allocations side by side, with what is free in each and what each of its jobs costs."""

    def __init__(self, problem: Round, size: int, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        jobs, nodes = problem.current.shape
        self.each = np.arange(size)
        self.counts = np.arange(problem.speedup.shape[2])
        self.anew, self.kept = _costs(problem)
        self.now = problem.current.astype(np.int64)
        self.now_gpus = self.now.sum(axis=1)
        self.now_spans = (self.now > 0).sum(axis=1) > 1
        self.price = _price(problem, self.anew, self.kept, self.now_gpus)
        self.held = np.zeros((size, jobs, nodes), dtype=np.int64)
        self.free = np.tile(np.asarray(problem.capacity, dtype=np.int64), (size, 1))
        self.spanning = np.zeros((size, nodes), dtype=np.int64)  # jobs on each node that span nodes
        self.cost = np.tile(self.anew[:, 0, 0], (size, 1))

    def build(self) -> None:
        """Fills every allocation: the first with what is held now, the others in orders of their own."""
        size, jobs = self.cost.shape
        order = np.argsort(self.rng.random((size, jobs)), axis=1)
        price = np.multiply(self.price, self.rng.uniform(0.85, 1.4, size))
        for place in range(jobs):
            self._place(order[:, place], price, len(self.counts), self._whims())
        if feasible(self.problem, self.now[np.newaxis])[0]:
            self._take_over_current()

    def step(self, count: int) -> None:
        """Takes `count` jobs out of each allocation and places them anew; undoes what made it worse."""
        size, jobs = self.cost.shape
        rng = self.rng
        # Half of the time jobs that share a node are taken, so that they can change places, and half of the
        # time jobs that have nothing.
        key = rng.random((size, jobs))
        key -= (self.cost >= self.anew[:, 0, 0]) & (rng.random((size, 1)) < 0.5)
        together = np.flatnonzero(rng.random(size) < 0.5)
        node = rng.integers(0, self.free.shape[1], len(together))
        key[together] -= self.held[together, :, node] > 0
        out = np.argpartition(key, count - 1, axis=1)[:, :count] if count < jobs else np.argsort(key, axis=1)
        before = self.cost.sum(axis=1)
        free, spanning = self.free.copy(), self.spanning.copy()
        rows, cost = self.held[self.each[:, None], out], np.take_along_axis(self.cost, out, axis=1)
        held = rows > 0
        self.free += rows.sum(axis=1)
        self.spanning -= (held & (held.sum(axis=2) > 1)[..., None]).sum(axis=1)
        self.held[self.each[:, None], out] = 0
        # A third of them give away what is free, whatever it is worth.
        price = np.multiply(self.price, rng.uniform(0.2, 1.2, size) * (rng.random(size) < 0.67))
        # A quarter of them cap the GPUs of a job, since prices alone do not reach every division.
        most = len(self.counts)
        cap = np.where(rng.random(size) < 0.25, rng.integers(1, most + 1, size), most)
        for place in range(count):
            self._place(out[:, place], price, cap, self._whims())
        worse = np.flatnonzero(self.cost.sum(axis=1) > before + 1e-12 * np.abs(before))
        self.held[worse[:, None], out[worse]] = rows[worse]
        self.cost[worse[:, None], out[worse]] = cost[worse]
        self.free[worse], self.spanning[worse] = free[worse], spanning[worse]

    def cull(self) -> None:
        """Lets the best quarter take the place of the worst."""
        order = np.argsort(self.cost.sum(axis=1), kind="stable")
        quarter = len(order) // 4
        for column in (self.held, self.free, self.spanning, self.cost):
            column[order[len(order) - quarter :]] = column[order[:quarter]]

    def _whims(self) -> Array:
        """What decides between nodes that are equally free, in each allocation: less than half a GPU."""
        return np.asarray(0.5 * self.rng.random(self.free.shape))

    def _place(self, job: Array, price: Array, cap: Array | int, whims: Array) -> None:
        """Gives a job of each allocation the GPUs worth most to it at a price per GPU, `cap` at most."""
        each, free = self.each, self.free
        if self.problem.allowed is not None:
            free = np.where(self.problem.allowed[job], free, 0)
        single = np.minimum(free.max(axis=1), cap)
        shared = self.spanning > 0
        open_nodes = np.where(shared, 0, free) if self.problem.avoid_interference else free
        most = np.maximum(single, np.minimum(self._reach(open_nodes), cap))
        both = self.anew[job]
        worth = np.where(self.counts <= single[:, None], both[:, 0], both[:, 1])
        worth[self.counts > most[:, None]] = np.inf
        worth += price[:, None] * self.counts
        gpus = worth.argmin(axis=1)
        wide = gpus > single
        # on one node: the fullest that has room, rather one on which a spanning job is already
        tightness = free + whims - 0.6 * shared
        tightness[free < gpus[:, None]] = np.inf
        row = np.zeros_like(free)
        row[each, tightness.argmin(axis=1)] = gpus
        if wide.any():
            row[wide] = self._spread(open_nodes[wide], gpus[wide], whims[wide])
        # what it holds now, if that is still to be had, without a restart
        now = self.now[job]
        room = np.where(self.now_spans[job, None], open_nodes, free)
        stays = (now <= room).all(axis=1)
        stays &= self.kept[job] + price * self.now_gpus[job] <= worth[each, gpus]
        row[stays] = now[stays]
        same = (row == now).all(axis=1)
        self._enter(job, row, np.where(same, self.kept[job], both[each, wide.astype(np.intp), gpus]))

    def _enter(self, job: Array, row: Array, cost: Array) -> None:
        self.held[self.each, job] = row
        self.cost[self.each, job] = cost
        self.free -= row
        held = row > 0
        self.spanning += held & (held.sum(axis=1) > 1)[:, None]

    def _reach(self, open_nodes: Array) -> Array:
        """GPUs that a job can have on several nodes."""
        most = self.problem.most_nodes
        if open_nodes.shape[1] <= most:
            return np.asarray(open_nodes.sum(axis=1))
        return np.asarray(-np.sort(-open_nodes, axis=1)[:, :most].sum(axis=1))

    @staticmethod
    def _spread(open_nodes: Array, gpus: Array, whims: Array) -> Array:
        """Rows that fill the emptiest nodes first."""
        order = np.argsort(-open_nodes - whims, axis=1)
        at = (np.arange(len(gpus))[:, None], order)
        there = open_nodes[at]
        left = gpus[:, None] - (np.cumsum(there, axis=1) - there)
        row = np.empty_like(open_nodes)
        row[at] = np.minimum(np.maximum(left, 0), there)
        return row

    def _take_over_current(self) -> None:
        self.held[0] = self.now
        self.free[0] = self.problem.capacity - self.now.sum(axis=0)
        self.spanning[0] = ((self.now > 0) & self.now_spans[:, None]).sum(axis=0)
        self.cost[0] = self.kept


def _costs(problem: Round) -> tuple[Array, Array]:
    """What jobs cost, placed anew (jobs x 2 x replicas) and left alone (jobs); sums rank as fitness does."""
    power = problem.power

    def cost(speedup: Array) -> Array:
        value = speedup * problem.scale + IDLE
        return np.asarray(-np.log(value) if power == 0 else -np.sign(power) * value**power)

    factor = np.maximum(problem.restart, LEAST_FACTOR)[:, None, None]
    anew = cost(problem.speedup * factor)
    beyond = np.arange(problem.speedup.shape[2]) > np.asarray(problem.most)[:, None, None]
    if problem.least is not None:
        counts = np.arange(problem.speedup.shape[2])
        beyond = beyond | ((counts > 0) & (counts < np.asarray(problem.least)[:, None, None]))
    anew[np.broadcast_to(beyond, anew.shape)] = np.inf
    held, nodes = problem.current.sum(axis=1), (problem.current > 0).sum(axis=1)
    allowed = (held <= np.minimum(problem.most, problem.speedup.shape[2] - 1)) & (nodes <= problem.most_nodes)
    if problem.least is not None:
        allowed &= (held == 0) | (held >= problem.least)
    kept = cost(
        problem.speedup[np.arange(len(held)), (nodes > 1).astype(np.intp), np.where(allowed, held, 0)]
    )
    return anew, np.where(allowed, kept, np.inf)


def _price(problem: Round, anew: Array, kept: Array, now: Array) -> float:
    """The cost per GPU at which all jobs together want no more GPUs than there are."""
    counts = np.arange(anew.shape[2])
    alone = np.where(counts <= int(np.max(problem.capacity)), anew[:, 0], anew[:, 1])
    staying = np.flatnonzero(np.isfinite(kept))
    alone[staying, now[staying]] = np.minimum(alone[staying, now[staying]], kept[staying])
    low, high = 0.0, float((alone[:, 0] - alone.min(axis=1)).max()) + 1e-12
    for _ in range(30):
        middle = (low + high) / 2
        wanted = int((alone + middle * counts).argmin(axis=1).sum())
        low, high = (middle, high) if wanted > problem.capacity.sum() else (low, middle)
    return high
