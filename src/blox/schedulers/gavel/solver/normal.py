"""The normal equations of the interior-point method: (A diag(theta) A^T) y = right.

Without sharing, kinds meet only in the GPU rows and in t: the matrix is a 2x2 block per kind with a narrow
border, and a solve takes a time that grows with the number of kinds. With sharing it is dense in the kinds,
and its entries are sums over pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from blox.schedulers.gavel.solver.rows import Rows
from blox.schedulers.gavel.solver.solvers import solver
from blox.workloads.table import Array

NUDGE = 1e-13  # keeps the dense factor positive at degenerate optima; refinement takes it out again
DENSE_MAX = 64  # kinds: a matrix this small is factored as a whole, which bears degenerate optima better
Solve = Callable[[Array], Array]


def factor(rows: Rows, theta: Array) -> Solve:
    """A solver for the normal equations at these weights of the variables."""
    return _dense(rows, theta) if rows.shared or rows.kinds <= DENSE_MAX else _blocks(rows, theta)


def _blocks(rows: Rows, theta: Array) -> Solve:
    """Each kind's 2x2 block M is eliminated; the types, t and one kind's speed row remain.

    Near the end the entries of theta differ by many orders of magnitude, and differences of their products
    would cancel. So every determinant and adjugate is written out as a sum of positive terms (Cauchy and
    Binet). The speed row that stays is the one whose block is nearest to singular: a kind that cannot get
    more than it has decides t, and its row can only be solved together with t.
    """
    x, time, gpus, surplus, t = rows.parts(theta)
    kinds, types, speed, rise = rows.kinds, rows.types, rows.speed, rows.rise
    wide = rows.wide * x
    step = speed[:, :, None] - speed[:, None, :]  # kind, type j, type l: faster on j than on l by
    near = x * speed * speed
    lower = (x[:, None, :] * step).sum(axis=2) + time[:, None] * speed  # adj M . (1, speed_j), its second
    upper = surplus[:, None] - (x[:, None, :] * step * speed[:, None, :]).sum(axis=2)  # and its first half
    det, without = _determinants(x, time, surplus, step, near)
    total, cross = x.sum(axis=1) + time, (x * speed).sum(axis=1)
    stays = int(np.where(rise > 0, det / total / np.where(rise > 0, rise, 1.0) ** 2, np.inf).argmin())
    share = 1.0 / det
    share[stays] = 0.0
    corner = np.zeros((types + 2, types + 2))
    for j in range(types):
        corner[j, j] = gpus[j] + float((rows.wide[:, 0] * wide[:, j] * without[:, j]) @ share)
        for k in range(j):
            meet = (x * step[:, j] * step[:, k]).sum(axis=1) + time * speed[:, j] * speed[:, k] + surplus
            corner[j, k] = corner[k, j] = -float((wide[:, j] * wide[:, k] * meet) @ share)
    corner[types, :types] = corner[:types, types] = ((rise * share)[:, None] * wide * lower).sum(axis=0)
    corner[types, types] = -1.0 / t - float((rise**2 * total) @ share)
    base, mine = 1.0 / total[stays], wide[stays]  # the kind whose speed row stays: only its time row goes
    others = time[stays] + x[stays].sum() - x[stays]
    corner[:types, :types] -= base * np.outer(mine, mine)
    diagonal = np.arange(types)
    corner[diagonal, diagonal] += base * mine**2 + rows.wide[stays, 0] * mine * others * base
    corner[types + 1, :types] = corner[:types, types + 1] = mine * lower[stays] * base
    corner[types + 1, types] = corner[types, types + 1] = -rise[stays]
    corner[types + 1, types + 1] = det[stays] * base
    size = 1.0 / np.sqrt(np.abs(corner).max(axis=1))
    inverse = np.linalg.inv(corner * size[:, None] * size) * size[:, None] * size
    a, b, c = (near.sum(axis=1) + surplus) * share, -cross * share, total * share
    swept_upper = np.column_stack([wide * upper * share[:, None], -rise * b, np.zeros(kinds)])
    swept_lower = np.column_stack([wide * lower * share[:, None], -rise * c, np.zeros(kinds)])
    swept_upper[stays] = np.append(mine * base, [0.0, cross[stays] * base])
    a[stays] = base
    swept_lower[stays, -1] = -1.0  # its own multiplier is the last of the edge

    def solve(right: Array) -> Array:
        h, h_gpus, g = right[:kinds], right[kinds:-kinds], right[-kinds:]
        edge = inverse @ (np.append(h_gpus, [0.0, 0.0]) - h @ swept_upper - g @ swept_lower)
        return np.concatenate(
            [a * h + b * g - swept_upper @ edge, edge[:types], b * h + c * g - swept_lower @ edge]
        )

    return solve


def _determinants(x: Array, time: Array, surplus: Array, step: Array, near: Array) -> tuple[Array, Array]:
    """det M of every kind, and as it were without type j (kind, type)."""
    types = x.shape[1]
    det = time * near.sum(axis=1) + surplus * x.sum(axis=1) + time * surplus
    without = np.empty_like(x)
    for j in range(types):
        rest = [k for k in range(types) if k != j]
        without[:, j] = time * near[:, rest].sum(axis=1) + surplus * x[:, rest].sum(axis=1) + time * surplus
        for k, other in combinations(rest, 2):
            without[:, j] += x[:, k] * x[:, other] * step[:, k, other] ** 2
    for j, k in combinations(range(types), 2):
        det = det + x[:, j] * x[:, k] * step[:, j, k] ** 2
    return det, without


def _dense(rows: Rows, theta: Array) -> Solve:
    """A symmetric matrix over kinds, types and kinds again."""
    linalg = solver("scipy.linalg")
    x, time, gpus, surplus, t = rows.parts(theta)
    kinds, mine, other = rows.kinds, rows.mine, rows.other
    pair = x[kinds:]
    pulled, pushed = x * rows.speed, pair * rows.beside
    matrix = np.zeros((2 * kinds + rows.types,) * 2)
    of_time, of_speed = slice(0, kinds), slice(kinds + rows.types, None)
    busy, both = x.sum(axis=1), pair.sum(axis=1)
    pulls, pushes = pulled.sum(axis=1), pushed.sum(axis=1)

    def fill(where: tuple[slice, slice], diagonal: Array, above: Array, below: Array) -> None:
        block = matrix[where]
        block[mine, other] = above
        block[other, mine] += below  # added: for two of a kind both are the same entry
        block[np.diag_indices(kinds)] += diagonal

    fill((of_time, of_time), rows.gather(busy, both) + time, both, both)
    fill((of_speed, of_time), rows.gather(pulls, pushes), pulls[kinds:], pushes)
    squares = rows.gather((pulled * rows.speed).sum(axis=1), (pushed * rows.beside).sum(axis=1))
    crossed = (pulled[kinds:] * rows.beside).sum(axis=1)
    fill((of_speed, of_speed), squares + surplus, crossed, crossed)
    matrix[of_speed, of_speed] += t * np.outer(rows.rise, rows.rise)
    for j in range(rows.types):
        held, line = rows.wide[:, 0] * x[:, j], kinds + j
        matrix[line, of_time] = rows.gather(held, held[kinds:])
        gained = rows.wide[kinds:, 0] * pushed[:, j]
        matrix[of_speed, line] = rows.gather(rows.wide[:, 0] * pulled[:, j], gained)
        matrix[line, line] = float(rows.wide[:, 0] @ held) + gpus[j]
    even = 1.0 / np.sqrt(matrix.diagonal())
    matrix *= even[:, None]
    matrix *= even
    matrix[np.diag_indices_from(matrix)] += NUDGE
    factored = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def solve(right: Array) -> Array:
        found: Array = linalg.cho_solve(factored, right * even, check_finite=False)
        return found * even

    return solve
