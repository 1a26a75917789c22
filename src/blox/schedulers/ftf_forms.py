"""Finish-time fairness as others have simplified it, as plain functions: Gavel, Synergy, Shockwave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.workloads.table import Array


@dataclass(frozen=True, eq=False)
class Shares:
    """Parts of its time that each job is to run, the least with which no rho is above `max_rho`."""

    max_rho: float
    fraction: Array
    isolated_speed: Array
    isolated_s: Array


def smallest_max_rho(
    gpus: float, width: Array, left: Array, speed: Array, elapsed_s: Array, isolated_so_far_s: Array
) -> Shares:
    """Gavel's program where all GPUs are alike: the largest rho of all jobs is as small as it can be.

    rho is (elapsed + left / (speed x fraction)) over what the job would take with an equal part of the
    cluster: its isolated time so far and the rest at its isolated speed. Fractions are at most 1, and those
    of `width` GPUs each fit on `gpus`. For a given rho the least fractions are known, and they shrink as it
    grows; so it is found by bisection, to the last bit. Only the jobs that bind are pinned down by that:
    a solver may give the others more.
    """
    share = np.minimum(1.0, gpus / max(len(width), 1) / width)
    alone = speed * share
    isolated = isolated_so_far_s + left / alone

    def fractions(rho: float) -> Array:
        slack = np.maximum(rho * isolated - elapsed_s, 1e-300)
        return np.asarray(np.minimum(left / (speed * slack), 1e300))

    def fits(rho: float) -> bool:
        found = fractions(rho)
        return bool((found <= 1.0).all() and float(found @ width) <= gpus)

    low = float(np.max((elapsed_s + left / speed) / isolated, initial=0.0)) * (1.0 - 1e-12)
    high = max(low, 1.0)
    while not fits(high):
        high *= 2.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if fits(middle) else (middle, high)
    return Shares(high, fractions(high), alone, isolated)


def synergy_rho(waited_s: Array | float, left_s: Array | float, total_s: Array | float) -> Array | float:
    """Synergy's key: (time since arrival + time to go at the present speed) / duration at the fair share."""
    return (waited_s + left_s) / total_s


def shockwave_rho(jct_s: float, exclusive_s: float, contention: float) -> float:
    """Shockwave's figure for a finished job: JCT over its exclusive time x contention (at least 1).

    Contention is jobs over GPUs: of the whole trace, or averaged over rounds.
    """
    return jct_s / (exclusive_s * max(1.0, contention))
