"""Directions of an interior-point method for programs with sharing.

Fractions are eliminated first, each by itself; then what belongs to one kind only. What remains is as large
as there are GPU types and, twice, kinds.
"""

from __future__ import annotations

import numpy as np

from blox.compat.gavel.cones import NUDGE
from blox.compat.gavel.pairs import ShareRows
from blox.schedulers.gavel.solver.solvers import solver
from blox.workloads.table import Array


class ShareSystem(ShareRows):
    """The rows of a program with sharing, and how to solve with them."""

    @property
    def nothing(self) -> Array:
        """Zeros for what cones have beside their three numbers."""
        return np.zeros((self.cones.cones, 2))

    def factor(self) -> None:
        size, kinds, types = len(self.m), self.kinds, self.types
        square = self.cones.squares()
        gpus, time, level = np.split(square[size : size + types + 2 * kinds], [types, types + kinds])
        self._inside = 1.0 / square[:size]
        self._diagonal = NUDGE + self.g.ravel() ** 2 * self._inside
        local, self._p, self._t = self._local(level)
        self._inverse = np.linalg.inv(local)
        pull, push = (self._inverse @ each[:, :, None] for each in (self._p, self._t))
        along = (self._p * pull[:, :, 0]).sum(axis=1)
        self._theta = (self._p * push[:, :, 0]).sum(axis=1)
        self._give = -1.0 / along
        self._push = push[:, :, 0]
        self._pull = pull[:, :, 0]
        met = (self.matrix_t.multiply(self.m / self._diagonal) @ self.matrix).toarray()
        met[np.diag_indices_from(met)] += np.concatenate([gpus, self.n * time, self.n * self._give])
        self._even = 1.0 / np.sqrt(met.diagonal())
        met *= self._even
        met *= self._even[:, None]
        self._factor = solver("scipy.linalg").cho_factor(met, check_finite=False)
        self._edge = np.concatenate([np.zeros(types + kinds), self.n * self._give * self._theta])
        self._swept = self._solved(self._edge)
        phi = (self._t * self._push).sum(axis=1)
        last = float((self.n * (phi + self._give * self._theta**2)).sum()) - NUDGE
        self._corner = last - float(self._edge @ self._swept)

    def _solved(self, right: Array) -> Array:
        scaled = solver("scipy.linalg").cho_solve(self._factor, right * self._even, check_finite=False)
        return np.asarray(scaled * self._even)

    def _local(self, level: Array) -> tuple[Array, Array, Array]:
        """What belongs to one kind only, how that meets its worth, and how it meets t."""
        if not self.curved:
            return -level[:, None, None], -np.ones((self.kinds, 1)), self.on_t[:, None] + 0.0
        block = np.zeros((self.kinds, 7, 7))
        block[:, 0, 0], block[:, 1, 1] = NUDGE, -level
        for at, value in ((1, self.on_u), (2, -self.bend), (3, self.bend)):
            block[:, 0, at] = block[:, at, 0] = value
        block[:, 2:, 2:] -= self.cones.spread
        p, t = np.zeros((self.kinds, 7)), np.zeros((self.kinds, 7))
        p[:, 2:4], t[:, 1] = -1.0, self.on_t
        return block, p, t

    def once(self, right_x: Array, right_z: Array, beyond: Array) -> tuple[Array, Array, Array]:
        """(x, z, what cones have beside) of one solve, not refined."""
        size, kinds, types, n = len(self.m), self.kinds, self.types, self.n
        start, gpus, time, level = np.split(
            right_z[: self.cones.plain], [size, size + types, size + types + kinds]
        )
        local = level[:, None]
        if self.curved:
            bent = right_z[self.cones.plain :].reshape(kinds, 3)
            local = np.concatenate([right_x[size:-1, None], local, bent, beyond], axis=1)
        g = self.g.ravel()
        rest = right_x[:size] - g * start * self._inside
        met = self.matrix_t @ (self.m * rest / self._diagonal)
        beta = (self._pull * local).sum(axis=1)
        met[:types] -= gpus
        met[types : types + kinds] -= n * time
        met[types + kinds :] += n * self._give * beta
        of_t = (n * ((self._push * local).sum(axis=1) + self._give * self._theta * beta)).sum() - right_x[-1]
        y = self._solved(met)
        t = (of_t - float(self._edge @ y)) / self._corner
        y = y - self._swept * t
        x = (rest - self.matrix @ y) / self._diagonal
        worth = self.cut(self.matrix_t @ (self.m * x))[2] / n
        own = (self._inverse @ (local - self._p * worth[:, None] - self._t * t)[:, :, None])[:, :, 0]
        z = [-(g * x + start) * self._inside, y[: types + kinds]]
        if not self.curved:
            return np.append(x, t), np.concatenate([*z, own[:, 0]]), beyond
        z += [own[:, 1], own[:, 2:5].ravel()]
        return np.concatenate([x, own[:, 0], [t]]), np.concatenate(z), own[:, 5:]
