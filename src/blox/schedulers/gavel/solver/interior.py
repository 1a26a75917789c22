"""Programs solved by an interior-point method: the centre of the optimal face, quickly for many jobs.

Mehrotra's predictor and corrector on the rows of `rows.py`. Of all optima it ends near the analytic centre:
the one that leaves as much room as it can to every inequality, so time that no job needs is spread over jobs
and types. That point is a property of the problem, not of the solver; the original's solver (ECOS) ends close
to it too. This is also the way for thousands of jobs of which no two are alike, where general solvers take
several times as long.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blox.errors import BloxError
from blox.schedulers.gavel.solver.normal import factor
from blox.schedulers.gavel.solver.one_thread import one_thread
from blox.schedulers.gavel.solver.program import Answer, Program
from blox.schedulers.gavel.solver.rows import Rows
from blox.workloads.table import Array

TOLERANCE = 1e-8
GOOD_ENOUGH = 1e-7  # an answer this close is taken where rounding allows no better
DECISIVE = 1e-5  # of the sum: a demand with less does not bind, as far as this method can tell
MOST_STEPS = 100
NEAR = 1e-5
MOST_CENTRINGS = 12
MOST_REFINEMENTS = 6


def centre(program: Program, *, log: bool = False) -> Answer:
    """The centre of the optimal face. With `log`, of the largest sum of logarithms of all jobs' speeds."""
    asked = np.ones(len(program.count), dtype=bool) if log else (program.rise > 0) | (program.floor > 0)
    rows = Rows(replace(program, level=False) if log else program, asked)
    with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # checked after
        v, y = _path(rows, log)
    x, *_, t = rows.parts(v)
    x = _inside(program, np.where(program.useful, x, 0.0))
    if program.rise.any():  # what the trimmed fractions really reach
        above = program.speeds(x) / program.count - program.floor
        t = float((above / np.where(program.rise > 0, program.rise, np.nan))[program.rise > 0].min())
    binding = y[-rows.kinds :] * rows.rise
    return Answer(x, t, np.where(binding < DECISIVE / len(binding), 0.0, binding))


def _path(rows: Rows, log: bool) -> tuple[Array, Array]:
    """Follows the central path to its end: (variables, multipliers of the rows).

    A sum of logarithms of speeds is a barrier that is never taken away: variable x multiplier of a speed goes
    to its weight, as that of all the others goes to 0.
    """
    v, y = rows.start(), np.zeros(len(rows.right))
    z = np.full(len(v), 0.1)
    kept, weight, right = np.zeros(len(v)), rows.weight.copy(), rows.right
    if log:
        speeds = slice(len(v) - 1 - rows.kinds, len(v) - 1)
        kept[speeds] = rows.program.count / rows.program.count.sum()
        z[speeds], weight[speeds] = kept[speeds] / v[speeds], 0.0
    goes, total = weight > 0, float(weight.sum())
    scale = 1.0 + float(np.abs(right).max())
    centrings = MOST_CENTRINGS
    best: tuple[float, Array, Array] = (np.inf, v, y)
    for _ in range(MOST_STEPS):
        short = right - rows.apply(v)
        tilt = rows.cost - rows.adjoint(y) - z
        gap = float((v * z)[goes].sum())
        size = 1.0 + abs(float(rows.cost @ v))
        off = float(np.abs(v * z - kept)[~goes].max(initial=0.0))
        error = max(float(np.abs(short).max()) / scale, float(np.abs(tilt).max()), gap / size, off)
        if error < best[0]:
            best = (error, v, y)
        if error < TOLERANCE or (best[0] < GOOD_ENOUGH and error > 10 * best[0]):
            break
        aim = weight * (gap / total)
        # once, close to the end, back to the middle of the path: from there it ends at the centre
        uneven = float(np.abs(v * z / (aim + kept) - 1.0).max())
        centring = error < NEAR and centrings > 0 and uneven > 0.1
        if error < NEAR:
            centrings = centrings - 1 if centring else 0
        try:
            v, y, z = _step(rows, (v, y, z), (short, tilt), aim, kept, centring)
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(v).all():
            break
    if best[0] > GOOD_ENOUGH:
        raise BloxError(
            f"no optimum was found: the best point is {best[0]:.1e} away from one",
            where="gavel",
            fix="check the throughputs for values of very different sizes",
        )
    return best[1], best[2]


def _step(
    rows: Rows,
    point: tuple[Array, Array, Array],
    errors: tuple[Array, Array],
    aim: Array,
    kept: Array,
    centring: bool,
) -> tuple[Array, Array, Array]:
    """One step of predictor and corrector, or one straight to the middle of the path."""
    (v, y, z), (short, tilt) = point, errors
    theta = v / z
    solve = factor(rows, theta)
    close = 1e-12 * float(np.abs(rows.right).max())

    def direction(wanted: Array) -> tuple[Array, Array, Array]:
        push = wanted / v - tilt
        dy, dv = np.zeros(len(short)), theta * push
        rest = short - rows.apply(dv)
        for _ in range(MOST_REFINEMENTS):  # again and again, against rounding: theta spans many orders
            more = solve(rest)
            step = theta * rows.adjoint(more)
            after = rest - rows.apply(step)
            if not np.abs(after).max() < np.abs(rest).max():
                break
            dy, dv, rest = dy + more, dv + step, after
            if np.abs(rest).max() < close:
                break
        return dv, dy, (wanted - z * dv) / v

    if centring:
        dv, dy, dz = direction(aim + kept - v * z)
    else:
        dv, _, dz = direction(kept - v * z)
        far, far_z = min(1.0, _reach(v, dv)), min(1.0, _reach(z, dz))
        goes = aim > 0
        after = float(((v + far * dv) * (z + far_z * dz))[goes].sum()) / float((v * z)[goes].sum())
        dv, dy, dz = direction(aim * min(after, 1.0) ** 3 + kept - v * z - dv * dz * goes)
    far, far_z = min(1.0, 0.995 * _reach(v, dv)), min(1.0, 0.995 * _reach(z, dz))
    return v + far * dv, y + far_z * dy, z + far_z * dz


def _reach(v: Array, dv: Array) -> float:
    """How far v can go along dv before something becomes negative."""
    steepest = float((dv / v).min())
    return -1.0 / steepest if steepest < -1e-12 else 1e12


def _inside(program: Program, x: Array) -> Array:
    """The same fractions, the last rounding error trimmed, so that nothing is exceeded."""
    x = np.maximum(x, 0.0)
    kinds, busy = len(program.count), x.sum(axis=1)
    shared = program.second >= 0
    time = np.bincount(program.first, busy, kinds) + np.bincount(program.second[shared], busy[shared], kinds)
    over = np.maximum(time / program.count, 1.0)
    x = x / np.maximum(over[program.first], np.where(shared, over[program.second], 1.0))[:, None]
    held = (program.width[program.first, None] * x).sum(axis=0)
    return np.asarray(x * np.minimum(1.0, program.gpus / np.maximum(held, 1e-300)))
