"""Conic programs solved step by step as the original's solver solves them, to end where it ends.

Of many optima an interior-point method ends at one that depends on its path: where it starts, how the rows
are scaled, how long its steps are. The original uses ECOS (Domahidi, Chu and Boyd, ECC 2013). This follows
the same path: the method that they publish (self-dual embedding, Nesterov-Todd scaling, Mehrotra's predictor
and corrector) with ECOS's settings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.compat.gavel.blocks import Blocks, BlockSystem
from blox.compat.gavel.cones import NUDGE
from blox.compat.gavel.pairs import Shares
from blox.compat.gavel.pairs_kkt import ShareSystem
from blox.schedulers.gavel.solver.one_thread import one_thread
from blox.workloads.table import Array

TOLERANCE = 1e-8
MOST_STEPS = 100
SHORTENED = 0.99  # how much of the way to the boundary is gone
LEAST_CENTRING = 1e-4
GOOD_ENOUGH = 5e-5  # where rounding allows no better
MOST_REFINEMENTS, LEAST_GAIN, CLOSE = 9, 6.0, 1e-14
System = BlockSystem | ShareSystem


@dataclass(frozen=True, eq=False)
class Found:
    """How it ended (`optimal`, also if nearly so; `infeasible`; `stuck`), and the variables."""

    status: str
    variables: Array


def solve(program: Blocks | Shares) -> Found:
    """Follows the path to its end."""
    system: System = BlockSystem(program) if isinstance(program, Blocks) else ShareSystem(program)
    with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        status, x = _follow(system)
    return Found(status, system.variables(x))


def _direction(system: System, right_x: Array, right_z: Array) -> tuple[Array, Array]:
    """(x, z) with adjoint(z) = right_x and apply(x) - squared scaling of z = right_z, nudged, refined."""
    x, z, more = step = system.once(right_x, right_z, system.nothing)
    close = CLOSE * (1.0 + max(np.abs(right_x).max(), np.abs(right_z).max()))
    before = np.inf
    for again in range(MOST_REFINEMENTS + 1):
        squared, off_more = system.cones.squared(z, more)
        off_x = right_x - system.adjoint(z) - NUDGE * x
        off_z = right_z - system.apply(x) + squared
        error = max(np.abs(off_x).max(), np.abs(off_z).max(), np.abs(off_more).max(initial=0.0))
        if error > before:
            return x - step[0], z - step[1]
        if error < close or before < LEAST_GAIN * error or again == MOST_REFINEMENTS:
            break
        before = error
        step = system.once(off_x, off_z, off_more)
        x, z, more = x + step[0], z + step[1], more + step[2]
    return x, z


def _follow(system: System) -> tuple[str, Array]:
    """(how it ended, the variables). tau and kappa are the embedding's: at an optimum kappa is 0."""
    cones, c, h = system.cones, system.c, system.h
    per_x, per_z = system.weight_x, system.weight_z
    prices = per_z * h
    cones.neutral()
    system.factor()
    x, z = _direction(system, np.zeros(len(c)), h)
    s = cones.inside(-z)
    z = cones.inside(_direction(system, -c, np.zeros(len(h)))[1])
    kappa = tau = 1.0
    size_x, size_z = max(1.0, _norm(c, per_x)), max(1.0, _norm(h, per_z))
    best = (np.inf, x)
    for _ in range(MOST_STEPS):
        flat, lean = -system.adjoint(z), system.apply(x) + s
        tilt, short = flat - c * tau, lean - h * tau
        cost, bound, gap = float(c @ x), float(prices @ z), float(per_z * s @ z)
        rest, mu = kappa + cost + bound, (gap + kappa * tau) / (system.degree + 1)
        relative = gap / -cost * tau if cost < 0 else gap / -bound * tau if bound < 0 else np.inf
        off = _norm(short, per_z) / max(size_z + _norm(x, per_x) + _norm(s, per_z), 1.0) / tau
        tilted = _norm(tilt, per_x) / max(size_x + _norm(z, per_z), 1.0) / tau
        error = max(off, tilted, min(gap, relative))
        if error < TOLERANCE:
            return "optimal", x / tau
        if error < best[0]:
            best = (error, x / tau)
        if (
            bound / max(_norm(z, per_z), 1.0) < -TOLERANCE
            and _norm(flat, per_x) / max(_norm(z, per_z), 1.0) < TOLERANCE
        ):
            return "infeasible", x / tau
        if not cones.scale_at(s, z):
            break
        centre = cones.scaled(z)
        try:
            system.factor()
        except np.linalg.LinAlgError:
            break
        x1, z1 = _direction(system, -c, h)
        pull = kappa / tau - float(c @ x1) - float(prices @ z1)
        # predictor: how far one gets without centring says how much of it is needed
        x2, z2 = _direction(system, tilt, s - short)
        d_tau = (rest - kappa + float(c @ x2) + float(prices @ z2)) / pull
        to_z = cones.scaled(z2 + d_tau * z1)
        to_s, d_kappa = -to_z - centre, -kappa - kappa / tau * d_tau
        reach = cones.reach(centre, to_s, to_z, (tau, d_tau), (kappa, d_kappa))
        sigma = min(max((1.0 - reach) ** 3, LEAST_CENTRING), 1.0)
        # corrector
        aim = cones.product(centre, centre) + cones.product(to_s, to_z) - sigma * mu * cones.unit
        push, both = cones.quotient(aim, centre), kappa * tau + d_kappa * d_tau - sigma * mu
        x2, z2 = _direction(system, (1 - sigma) * tilt, cones.scaled(push) - (1 - sigma) * short)
        d_tau = ((1 - sigma) * rest - both / tau + float(c @ x2) + float(prices @ z2)) / pull
        d_x, d_z = x2 + d_tau * x1, z2 + d_tau * z1
        to_z = cones.scaled(d_z)
        to_s, d_kappa = -(push + to_z), -(both + kappa * d_tau) / tau
        far = SHORTENED * cones.reach(centre, to_s, to_z, (tau, d_tau), (kappa, d_kappa))
        x, z, s = x + far * d_x, z + far * d_z, s + far * cones.scaled(to_s)
        kappa, tau = kappa + far * d_kappa, tau + far * d_tau
    return "optimal" if best[0] < GOOD_ENOUGH else "stuck", best[1]


def _norm(v: Array, weight: Array) -> float:
    return float(np.sqrt(weight * v @ v))
