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
from blox.workloads.table import Array

TOLERANCE = 1e-8
MOST_STEPS = 100
SHORTENED = 0.99  # how much of the way to the boundary is gone
LEAST_CENTRING = 1e-4


@dataclass(frozen=True, eq=False)
class Found:
    """How it ended (`optimal`, `infeasible` or `stuck`), and every job's variables."""

    status: str
    variables: Array


def solve(program: Blocks) -> Found:
    """Follows the path to its end."""
    system = BlockSystem(program)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            status, x = _follow(system)
        except np.linalg.LinAlgError:
            status, x = "stuck", np.full(len(system.c), np.nan)
    return Found(status, system.variables(x))


def _follow(system: BlockSystem) -> tuple[str, Array]:
    """(how it ended, the variables). tau and kappa are the embedding's: at an optimum kappa is 0."""
    cones, c, h = system.cones, system.c, system.h
    cones.neutral()
    system.factor(0.0)
    x, z = system.direction(np.zeros(len(c)), h)
    s = cones.inside(-z)
    z = cones.inside(system.direction(-c, np.zeros(len(h)))[1])
    kappa = tau = 1.0
    size_x, size_z = max(1.0, _norm(c)), max(1.0, _norm(h))
    for _ in range(MOST_STEPS):
        flat, lean = -system.adjoint(z), system.apply(x) + s
        tilt, short = flat - c * tau, lean - h * tau
        cost, bound, gap = float(c @ x), float(h @ z), float(s @ z)
        rest, mu = kappa + cost + bound, (gap + kappa * tau) / (cones.degree + 1)
        relative = gap / -cost * tau if cost < 0 else gap / -bound * tau if bound < 0 else np.inf
        off = _norm(short) / max(size_z + _norm(x) + _norm(s), 1.0) / tau
        tilted = _norm(tilt) / max(size_x + _norm(z), 1.0) / tau
        if max(off, tilted) < TOLERANCE and min(gap, relative) < TOLERANCE:
            return "optimal", x / tau
        if bound / max(_norm(z), 1.0) < -TOLERANCE and _norm(flat) / max(_norm(z), 1.0) < TOLERANCE:
            return "infeasible", x / tau
        if not cones.scale_at(s, z):
            break
        centre = cones.scaled(z)
        system.factor()
        x1, z1 = system.direction(-c, h)
        pull = kappa / tau - float(c @ x1) - float(h @ z1)
        # predictor: how far one gets without centring says how much of it is needed
        x2, z2 = system.direction(tilt, s - short)
        d_tau = (rest - kappa + float(c @ x2) + float(h @ z2)) / pull
        to_z = cones.scaled(z2 + d_tau * z1)
        to_s, d_kappa = -to_z - centre, -kappa - kappa / tau * d_tau
        reach = cones.reach(centre, to_s, to_z, (tau, d_tau), (kappa, d_kappa))
        sigma = min(max((1.0 - reach) ** 3, LEAST_CENTRING), 1.0)
        # corrector
        aim = cones.product(centre, centre) + cones.product(to_s, to_z) - sigma * mu * cones.unit
        push, both = cones.quotient(aim, centre), kappa * tau + d_kappa * d_tau - sigma * mu
        x2, z2 = system.direction((1 - sigma) * tilt, cones.scaled(push) - (1 - sigma) * short)
        d_tau = ((1 - sigma) * rest - both / tau + float(c @ x2) + float(h @ z2)) / pull
        d_x, d_z = x2 + d_tau * x1, z2 + d_tau * z1
        to_z = cones.scaled(d_z)
        to_s, d_kappa = -(push + to_z), -(both + kappa * d_tau) / tau
        far = SHORTENED * cones.reach(centre, to_s, to_z, (tau, d_tau), (kappa, d_kappa))
        x, z, s = x + far * d_x, z + far * d_z, s + far * cones.scaled(to_s)
        kappa, tau = kappa + far * d_kappa, tau + far * d_tau
    return "stuck", x / tau


def _norm(v: Array) -> float:
    return float(np.sqrt(v @ v))
