"""The programs of Gavel's policies with sharing: time for kinds of job alone and for pairs of kinds.

Jobs of a kind are alike, and the path of an interior-point method treats them alike: one of each stands for
all. What a number stands for enters in sums, as its weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.compat.gavel.blocks import ROUNDS_OF_SCALING, root
from blox.compat.gavel.cones import Cones
from blox.schedulers.gavel.solver.solvers import solver
from blox.workloads.table import Array


@dataclass(frozen=True, eq=False)
class Shares:
    """Minimises `goal` x t over fractions of `combinations` (first kind, second or -1) on each type.

    Every job has at most all its time, every type at most all its GPUs. `first` and `second` (combinations x
    types) are what a combination is worth to its members, whose sum is at least `least` - goal x t. With
    `steps` and `late` (per kind) it is finish times instead: steps / worth + late <= t.
    """

    combinations: Array
    count: Array  # jobs of each kind, as the next ones
    width: Array
    gpus: Array
    first: Array
    second: Array
    goal: float
    least: Array
    steps: Array | None = None
    late: Array | None = None


class ShareRows:
    """The rows of such a program, of even size: min c . x such that h - apply(x) is in the cones.

    x: fractions, then for finish times the reciprocal of each kind's worth, then t. Rows: no fraction is
    negative; GPUs; time; level (or finish time) of each kind; then a second-order cone of each kind.
    """

    def __init__(self, program: Shares) -> None:
        self.a, self.b = program.combinations.T
        self.two = self.b >= 0
        self.kinds, self.types, self.n = len(program.count), len(program.gpus), program.count.astype(float)
        shape = self.shape = (len(self.a), self.types)
        others = np.where(self.two, self.n[self.b] - (self.a == self.b), 1.0)
        ways = self.n[self.a] * others / np.where(self.a == self.b, 2.0, 1.0)
        self.m = np.repeat(ways, self.types)
        self.curved = program.steps is not None
        self.g, self.wide = np.ones(shape), np.broadcast_to(program.width[self.a, None], shape) + 0.0
        self.time = np.ones((2, *shape)) * np.array([1.0, 0.0])[:, None, None]
        self.time[1] += self.two[:, None]
        self.worth = np.stack([program.first, np.where(self.two[:, None], program.second, 0.0)])
        self.on_u = np.zeros(self.kinds) if program.steps is None else program.steps.astype(float)
        self.bend = np.ones(self.kinds) if self.curved else np.zeros(self.kinds)
        self.on_t = np.full(self.kinds, -1.0 if self.curved else -program.goal)
        plain, cones = len(self.m) + self.types + 2 * self.kinds, self.kinds if self.curved else 0
        self.cones = Cones(plain, cones)
        rows, self.scale, scale_t = self._even_out()
        limit = -program.least if program.late is None else -program.late
        ends = [np.zeros(len(self.m)), program.gpus, np.ones(self.kinds), limit]
        if self.curved:
            ends.append(np.tile([0.0, 0.0, 2.0], self.kinds))
        self.h = np.concatenate(ends) / rows
        self.c = np.zeros(len(self.m) + cones + 1)
        self.c[-1] = program.goal / scale_t
        beside = [self.n] if self.curved else []
        self.weight_x = np.concatenate([self.m, *beside, [1.0]])
        self.weight_z = np.concatenate(
            [self.m, np.ones(self.types), self.n, self.n, *[np.repeat(each, 3) for each in beside]]
        )
        self.degree = float(self.weight_z[:plain].sum() + sum(each.sum() for each in beside))
        self._make_matrix()

    def variables(self, x: Array) -> Array:
        """Fractions in their own units (combinations x types)."""
        return np.asarray(x[: len(self.m)].reshape(self.shape) / self.scale)

    def apply(self, x: Array) -> Array:
        fractions, t = x[: len(self.m)], x[-1]
        gpus, time, worth = self.cut(self.matrix_t @ (self.m * fractions))
        time, worth = time / self.n, worth / self.n
        start = -self.g.ravel() * fractions
        if not self.curved:
            return np.concatenate([start, gpus, time, self.on_t * t - worth])
        u = x[len(self.m) : -1]
        bent = np.stack([-worth - self.bend * u, -worth + self.bend * u, np.zeros(self.kinds)], axis=1)
        return np.concatenate([start, gpus, time, self.on_u * u + self.on_t * t, bent.ravel()])

    def adjoint(self, z: Array) -> Array:
        size, middle = len(self.m), len(self.m) + self.types + self.kinds
        level = z[middle : middle + self.kinds]
        bent = z[middle + self.kinds :].reshape(-1, 3)
        pull = -(bent[:, 0] + bent[:, 1]) if self.curved else -level
        fractions = self.matrix @ np.concatenate([z[size:middle], pull]) - self.g.ravel() * z[:size]
        u = [self.on_u * level + self.bend * (bent[:, 1] - bent[:, 0])] if self.curved else []
        return np.concatenate([fractions, *u, [float((self.n * self.on_t * level).sum())]])

    def cut(self, rows: Array) -> tuple[Array, Array, Array]:
        """(of types, of kinds' time, of kinds' worth)."""
        return rows[: self.types], rows[self.types : -self.kinds], rows[-self.kinds :]

    def _make_matrix(self) -> None:
        """What a fraction takes of GPUs and of its members' time, and what it is worth to them."""
        sparse, size = solver("scipy.sparse"), len(self.m)
        type_ = np.tile(np.arange(self.types), len(self.a))
        first, second = (
            np.repeat(self.a, self.types),
            np.repeat(np.where(self.two, self.b, self.a), self.types),
        )
        columns = [type_, self.types + first, self.types + second]
        columns += [self.types + self.kinds + first, self.types + self.kinds + second]
        values = np.concatenate([self.wide.ravel(), self.time.ravel(), self.worth.ravel()])
        where = (np.tile(np.arange(size), 5), np.concatenate(columns))
        self.matrix = sparse.csr_matrix((values, where), shape=(size, self.types + 2 * self.kinds))
        self.matrix_t = self.matrix.T.tocsr()

    def _even_out(self) -> tuple[Array, Array, float]:
        """As for programs without sharing: by what rows, fractions and t were divided."""
        rows, columns, column_t = np.ones(self.cones.plain + 3 * self.cones.cones), np.ones(self.shape), 1.0
        for _ in range(ROUNDS_OF_SCALING):
            of_columns = np.maximum(
                np.maximum(self.g, self.wide), np.maximum(self.time, self.worth).max(axis=0)
            )
            of_u = np.maximum(self.on_u, self.bend)
            time, worth = np.zeros(self.kinds), np.zeros(self.kinds)
            for at, member in enumerate((self.a, np.where(self.two, self.b, self.a))):
                np.maximum.at(time, member, self.time[at].max(axis=1))
                np.maximum.at(worth, member, self.worth[at].max(axis=1))
            level = np.maximum(self.on_u if self.curved else worth, np.abs(self.on_t))
            by, by_u, by_t = root(of_columns), root(of_u), float(root(np.abs(self.on_t).max()))
            by_g, by_wide = root(self.g), root(self.wide.max(axis=0))
            by_time, by_level = root(time), root(level)
            by_worth = root(2.0 * np.maximum(worth, self.bend)) if self.curved else by_level
            self.g, self.wide = self.g / by_g / by, self.wide / by_wide / by
            for at, member in enumerate((self.a, np.where(self.two, self.b, self.a))):
                self.time[at] /= by_time[member, None] * by
                self.worth[at] /= by_worth[member, None] * by
            self.on_u, self.on_t = self.on_u / by_level / by_u, self.on_t / by_level / by_t
            self.bend = self.bend / by_worth / by_u
            parts = [by_g.ravel(), by_wide, by_time, by_level]
            rows = rows * np.concatenate(parts + ([np.repeat(by_worth, 3)] if self.curved else []))
            columns, column_t = columns * by, column_t * by_t
        return rows, columns, column_t
