"""The programs of Gavel's policies without sharing: a block of rows per job, tied together by GPUs and one t.

A `Blocks` states such a program; a `BlockSystem` holds it scaled, and solves for the directions of an
interior-point method: every job's block is eliminated, what remains is as large as there are GPU types.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.compat.gavel.cones import NUDGE, Cones
from blox.workloads.table import Array

ROUNDS_OF_SCALING = 3


@dataclass(frozen=True, eq=False)
class Blocks:
    """Minimises `goal` x t such that rows . v_i + on_t t <= limit for every job i, and GPUs suffice.

    v_i are the job's own variables, the first of them its fractions of the GPU types. `rows` is jobs x rows x
    variables, `on_t` and `limit` jobs x rows. GPUs: the sum of width x fraction is at most `gpus`, per type.
    With `cone`, what the last three rows of a job leave of their limits is in a second-order cone.
    """

    rows: Array
    on_t: Array
    limit: Array
    width: Array
    gpus: Array
    goal: float
    cone: bool = False


class BlockSystem:
    """The program with rows and columns of even size: min c . x such that h - apply(x) is in the cones.

    x holds the jobs' variables and t; a vector of rows those of jobs, those of types, those in cones.
    """

    def __init__(self, program: Blocks) -> None:
        self.jobs, self.count, self.own = program.rows.shape
        self.types, self.linear = len(program.gpus), self.count - (3 if program.cone else 0)
        self.a, self.on_t = program.rows.copy(), program.on_t.copy()
        self.b = np.repeat(program.width[:, None], self.types, axis=1).astype(np.float64)
        self.cones = Cones(self.jobs * self.linear + self.types, self.jobs if program.cone else 0)
        rows, types, self.scale, scale_t = self._even_out()
        self.h = self._join(program.limit / rows, program.gpus / types)
        self.c = np.zeros(self.jobs * self.own + 1)
        self.c[-1] = program.goal / scale_t
        self.weight_x, self.weight_z = np.ones(len(self.c)), np.ones(len(self.h))
        self.degree = float(self.cones.plain + self.cones.cones)

    @property
    def nothing(self) -> Array:
        """Zeros for what cones have beside their three numbers."""
        return np.zeros((self.jobs, 2 if self.cones.cones else 0))

    def variables(self, x: Array) -> Array:
        """The jobs' variables in their own units (jobs x variables)."""
        return np.asarray(x[:-1].reshape(self.jobs, self.own) / self.scale)

    def apply(self, x: Array) -> Array:
        own = x[:-1].reshape(self.jobs, self.own)
        rows = (self.a @ own[:, :, None])[:, :, 0] + self.on_t * x[-1]
        return self._join(rows, (self.b * own[:, : self.types]).sum(axis=0))

    def adjoint(self, z: Array) -> Array:
        rows, types = self._split(z)
        own = (rows[:, None, :] @ self.a)[:, 0, :]
        own[:, : self.types] += self.b * types
        return np.append(own.ravel(), (self.on_t * rows).sum())

    def factor(self) -> None:
        """Eliminates every job's variables and multipliers; the multipliers of GPU types and t remain."""
        own, types, count, inside = self.own, self.types, self.count, self.own + self.linear
        square, square_types = self._split(self.cones.squares())
        size = inside + (5 if self.cones.cones else 0)
        every, block = np.arange(size), np.zeros((self.jobs, size, size))
        block[:, every[:own], every[:own]] = NUDGE
        block[:, :own, own : own + count] = self.a.transpose(0, 2, 1)
        block[:, own : own + count, :own] = self.a
        block[:, every[own:inside], every[own:inside]] = -square[:, : self.linear]
        if self.cones.cones:
            block[:, inside:, inside:] = -self.cones.spread
        edge = np.zeros((self.jobs, size, types + 1))
        edge[:, np.arange(types), np.arange(types)] = self.b
        edge[:, own : own + count, -1] = self.on_t
        self._block, self._swept = block, np.linalg.solve(block, edge)
        corner = (edge.transpose(0, 2, 1) @ self._swept).sum(axis=0)
        corner[np.arange(types), np.arange(types)] += square_types
        corner[-1, -1] -= NUDGE
        self._corner = corner

    def once(self, right_x: Array, right_z: Array, beyond: Array) -> tuple[Array, Array, Array]:
        """(x, z, what cones have beside) of one solve, not refined."""
        rows, types = self._split(right_z)
        right = np.concatenate([right_x[:-1].reshape(self.jobs, self.own), rows, beyond], axis=1)
        met = np.einsum("iqe,iq->e", self._swept, right) - np.append(types, right_x[-1])
        edge = np.linalg.solve(self._corner, met)
        found = np.linalg.solve(self._block, right[:, :, None])[:, :, 0] - self._swept @ edge
        own, z, more = np.split(found, [self.own, self.own + self.count], axis=1)
        return np.append(own.ravel(), edge[-1]), self._join(z, edge[:-1]), more

    def _even_out(self) -> tuple[Array, Array, Array, float]:
        """Divides rows and columns by roots of their largest entries, thrice; returns by what in all."""
        rows, types = np.ones(self.on_t.shape), np.ones(self.types)
        columns, column_t = np.ones((self.jobs, self.own)), 1.0
        for _ in range(ROUNDS_OF_SCALING):
            of_columns = np.abs(self.a).max(axis=1)
            of_columns[:, : self.types] = np.maximum(of_columns[:, : self.types], self.b)
            of_rows = np.maximum(np.abs(self.a).max(axis=2), np.abs(self.on_t))
            if self.cones.cones:
                of_rows[:, self.linear :] = of_rows[:, self.linear :].sum(axis=1, keepdims=True)
            by, by_rows, by_types = root(of_columns), root(of_rows), root(self.b.max(axis=0))
            by_t = float(root(np.abs(self.on_t).max()))
            self.a = self.a / by_rows[:, :, None] / by[:, None, :]
            self.on_t, self.b = self.on_t / by_rows / by_t, self.b / by_types / by[:, : self.types]
            rows, types, columns, column_t = rows * by_rows, types * by_types, columns * by, column_t * by_t
        return rows, types, columns, column_t

    def _join(self, rows: Array, types: Array) -> Array:
        return np.concatenate([rows[:, : self.linear].ravel(), types, rows[:, self.linear :].ravel()])

    def _split(self, v: Array) -> tuple[Array, Array]:
        end = self.jobs * self.linear
        first, types, last = v[:end].reshape(self.jobs, -1), v[end : end + self.types], v[end + self.types :]
        return np.concatenate([first, last.reshape(self.jobs, -1)], axis=1), types


def root(largest: Array) -> Array:
    """By what rows or columns of such entries are divided."""
    return np.where(np.abs(largest) < 1e-6, 1.0, np.sqrt(largest))
