"""Intervals from the blocks of one log: how a mean over jobs would vary if other blocks had been drawn.

Where the log is run once under an assumption, its blocks by time of submission are drawn again from what is
kept of the run, the same draws for every run. What a backlog carries from one block to the next is as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from blox.decision.digest import Key
from blox.results.bootstrap import RESAMPLES
from blox.results.statistics import LEVEL, Interval, bootstrap_interval
from blox.workloads.table import Array

_COUNTED = {"jct_s": "finished"}  # figure -> how many jobs its mean is over, if not all


def difference(
    run: Mapping[Key, float], other: Mapping[Key, float], figure: str, level: float = LEVEL
) -> Interval | None:
    """How much larger a mean over all jobs is in one run of the log than in another; None: too few blocks."""
    key = Key("all", "all jobs", figure)
    drawn = means(run, figure) - means(other, figure)
    return bootstrap_interval(run[key] - other[key], drawn, len(_blocks(run, figure)[0]), level)


def means(run: Mapping[Key, float], figure: str) -> Array:
    """The mean of a figure over all jobs of every draw."""
    counts, values = _blocks(run, figure)
    draws = draws_of(len(counts))
    of = draws @ counts
    total = draws @ (counts * np.where(counts > 0, values, 0.0))
    return np.where(of > 0, total / np.maximum(of, 1.0), math.nan)


def saved(waits: Mapping[int, float], wanted: float) -> float:
    """GPUs that can be left out before the average wait is above the wanted one.

    `waits`: GPUs -> wait, the most GPUs being all. Between two sizes, waiting is taken to grow evenly; where
    it stays below at every size, all that were left out count.
    """
    total = max(waits)
    last_gpus, last_wait = total, waits[total]
    if not last_wait <= wanted:
        return 0.0
    for gpus in sorted(waits, reverse=True)[1:]:
        if waits[gpus] > wanted:
            part = (wanted - last_wait) / (waits[gpus] - last_wait)
            return total - (last_gpus - part * (last_gpus - gpus))
        last_gpus, last_wait = gpus, waits[gpus]
    return float(total - last_gpus)


def saved_interval(
    smaller: Mapping[int, Mapping[Key, float]], present: Mapping[Key, float]
) -> Interval | None:
    """The GPUs that a scheduler saves at the waiting of the present one; None where there are too few blocks.

    `smaller`: GPUs -> its run on so many.
    """
    key = Key("all", "all jobs", "waited_s")
    estimate = saved({gpus: run[key] for gpus, run in smaller.items()}, present[key])
    drawn = {gpus: means(run, "waited_s").tolist() for gpus, run in smaller.items()}
    wanted = means(present, "waited_s").tolist()
    values = [saved({gpus: drawn[gpus][at] for gpus in drawn}, wait) for at, wait in enumerate(wanted)]
    return bootstrap_interval(estimate, np.array(values), len(_blocks(present, "waited_s")[0]))


@lru_cache(maxsize=4)
def draws_of(blocks: int) -> Array:
    """How often each block occurs in each draw (draws x blocks), the same every time."""
    rng = np.random.default_rng(np.random.SeedSequence(blocks, spawn_key=(0xB10C,)))
    return rng.multinomial(blocks, np.full(blocks, 1 / blocks), RESAMPLES).astype(np.float64)


def _blocks(run: Mapping[Key, float], figure: str) -> tuple[Array, Array]:
    """Of every block, in order: how many jobs count, and the mean of the figure over them."""
    names: Sequence[str] = list(dict.fromkeys(key.group for key in run if key.by == "time"))
    number = _COUNTED.get(figure, "jobs")
    counts, values = (
        np.array([run[Key("time", name, each)] for name in names], dtype=np.float64)
        for each in (number, figure)
    )
    return counts, values
