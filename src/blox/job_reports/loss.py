from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from blox.errors import BloxError
from blox.registry import register
from blox.state.jobs import JobState
from blox.workloads.limits import whole
from blox.workloads.table import Array

_STREAM = zlib.crc32(b"loss curves")
_LOWEST = (0.05, 2.0)  # between which the lowest losses of jobs lie
_DROP = (4.0, 40.0)  # how many times its lowest loss a job begins above it


@register.reports("loss")
@dataclass(frozen=True)
class Loss:
    """Losses that fall exponentially: most jobs are near their lowest loss long before their last epoch.

    `share` of the jobs, chosen by the seed, are within the share `within` of their lowest loss after the
    share `at` of their epochs; the others when they are about to end. The defaults are what was observed on
    Microsoft's Philly cluster (M. Jeon et al., USENIX ATC 2019, as quoted in the Blox paper, section 5.3):
    "around 75% of jobs reach within 0.1% of lowest loss using only 40% of the epochs". Every job has `epochs`
    epochs and reports at the end of each.
    The shape of the curves, their heights (0.05 to 2) and drops (4 to 40 times the lowest loss) are ours.
    """

    share: float = 0.75
    at: float = 0.4
    within: float = 0.001
    epochs: int = 100

    reports: ClassVar[tuple[str, ...]] = ("loss",)

    def __post_init__(self) -> None:
        for name in ("share", "at", "within"):
            if not 0 < getattr(self, name) <= 1:
                fix = f"{name} is a share, such as 0.4: above 0, and at most 1"
                raise BloxError(f"{name} is {getattr(self, name):g}", fix=fix)
        whole("epochs", self.epochs, 1, 1_000_000)

    def epochs_of(self, rows: Array, job_state: JobState) -> Array:
        return np.full(len(rows), self.epochs)

    def report(self, rows: Array, epoch: Array, job_state: JobState) -> dict[str, Array]:
        """loss = lowest x (1 + drop x exp(-k x share of the epochs)), k by when the job has converged."""
        early, lowest, drop = _drawn(len(job_state.columns.gpus), job_state.seed)
        fallen_at = np.where(early[rows] < self.share, self.at, 1.0)
        k = np.log(drop[rows] / self.within) / fallen_at
        return {"loss": lowest[rows] * (1 + drop[rows] * np.exp(-k * (epoch / self.epochs)))}


@lru_cache(maxsize=4)
def _drawn(count: int, seed: int) -> tuple[Array, Array, Array]:
    """Of the first jobs: a number in [0, 1), the lowest loss and the drop. More jobs, same numbers."""
    streams = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM,))).spawn(3)
    early, height, drop = (stream.random(count) for stream in streams)
    return early, _between(_LOWEST, height), _between(_DROP, drop)


def _between(bounds: tuple[float, float], u: Array) -> Array:
    """Numbers in [0, 1) as numbers between two bounds, evenly on a logarithmic scale."""
    low, high = bounds
    found: Array = low * (high / low) ** u
    return found
