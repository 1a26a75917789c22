"""Finish-time fairness in numbers: rho, what it compares, which apps are behind (Themis, NSDI'20, section 3).

rho = T_sh / T_id: when an app ends as things are, over when it would with an n-th part of the cluster to
itself. At most 1: sharing has cost it nothing. Plain functions of numbers; policies and tests share them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_HAIR = 1e-9  # (1 - f) x apps is a product of decimal fractions: it may miss a whole number by a rounding


@dataclass(frozen=True)
class AppJob:
    """One job of an app: its iterations, and what it runs on now.

    `serial_s`: seconds per iteration on one GPU. `slowdown`: how much longer an iteration takes for where
    the GPUs are (1: as close together as can be).
    """

    iterations: float
    iterations_left: float
    serial_s: float
    max_gpus: int
    gpus: int = 0
    slowdown: float = 1.0

    @property
    def left_s(self) -> float:
        """Seconds to go on the GPUs that it has; inf without any."""
        if not self.gpus:
            return math.inf
        return self.iterations_left * self.serial_s * self.slowdown / min(self.gpus, self.max_gpus)


def cluster_time_s(jobs: Sequence[AppJob], cluster_gpus: int) -> float:
    """T_cluster: all work of an app, spread without loss over as much of the cluster as it can use."""
    work = sum(job.iterations * job.serial_s for job in jobs)
    return work / min(cluster_gpus, sum(job.max_gpus for job in jobs))


def ideal_time_s(jobs: Sequence[AppJob], cluster_gpus: int, apps: float) -> float:
    """T_id: the same with one part in `apps` of the cluster (their number, averaged over this one's life)."""
    return cluster_time_s(jobs, cluster_gpus) * apps


def shared_time_s(jobs: Sequence[AppJob], elapsed_s: float) -> float:
    """T_sh: from the app's start until its slowest job is done, on the GPUs that its jobs have."""
    return elapsed_s + max(job.left_s for job in jobs)


def rho(jobs: Sequence[AppJob], cluster_gpus: int, apps: float, elapsed_s: float) -> float:
    """T_sh / T_id; inf while a job of the app has no GPU."""
    return shared_time_s(jobs, elapsed_s) / ideal_time_s(jobs, cluster_gpus, apps)


def offered(count: int, f: float) -> int:
    """How many of `count` apps are offered the free GPUs: the part 1 - f that is worst off, rounded up."""
    return min(count, max(1, math.ceil((1.0 - f) * count - _HAIR)))


def worst_off(rhos: Sequence[float], f: float) -> list[int]:
    """The positions of the apps that see the offer, the largest rho first; ties: the earlier position."""
    order = sorted(range(len(rhos)), key=lambda position: (-rhos[position], position))
    return order[: offered(len(order), f)] if order else []
