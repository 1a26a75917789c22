"""The block bootstrap over days: means and quantiles of values whose days are drawn again, in blocks.

Blocks are of consecutive days, in a circle (the circular block bootstrap of Politis and Romano, 1992): a
backlog that lasts for some days stays together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from blox.workloads.table import Array

RESAMPLES = 2000
_MOST_CELLS = 2048  # of the histogram by which quantiles are found


def block_days(days: int) -> int:
    """Days in a block: the cube root of their number."""
    return max(round(math.cbrt(days)), 1)


@lru_cache(maxsize=8)
def resampled_days(days: int) -> Array:
    """How often each day occurs in each resample (resamples x days).

    The draw depends on the number of days alone: resamples of two runs over the same days are pairs, and
    intervals are the same every time.
    """
    length = block_days(days)
    rng = np.random.default_rng(np.random.SeedSequence(days, spawn_key=(0xDA75,)))
    starts = rng.integers(0, days, (RESAMPLES, -(-days // length)))
    drawn = ((starts[:, :, None] + np.arange(length)) % days).reshape(RESAMPLES, -1)[:, :days]
    counts = np.zeros((RESAMPLES, days), dtype=np.float32)
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], drawn), 1)
    counts.flags.writeable = False
    return counts


def resampled_means(values: Array, day: Array, days: int) -> Array:
    """The mean of the values in every resample; nan where it has none. `day`: of each value, from 0."""
    counts = resampled_days(days).astype(np.float64)
    of = counts @ np.bincount(day, minlength=days)
    sums = counts @ np.bincount(day, values, minlength=days)
    return np.where(of > 0, sums / np.maximum(of, 1), math.nan)


def resampled_quantiles(values: Array, day: Array, days: int, shares: Sequence[float]) -> Array:
    """Quantiles of the values in every resample (shares x resamples), linear within a cell of a histogram.

    The cell of a quantile is found by bisection over the cumulative histograms of the days.
    """
    counts = resampled_days(days).astype(np.float64)
    found = np.full((len(shares), len(counts)), math.nan)
    if not len(values):
        return found
    ascending = np.argsort(values, kind="stable")
    size = -(-len(values) // _MOST_CELLS)
    edges = np.append(values[ascending][::size], values.max())
    table = np.zeros((len(edges) - 1, days))
    np.add.at(table, (np.arange(len(values)) // size, day[ascending]), 1)
    up_to = np.concatenate((np.zeros((1, days)), np.cumsum(table, axis=0)))  # values below each edge, by day

    def below(edge: Array) -> Array:
        """How many values of each resample are below its edge."""
        number: Array = np.einsum("rd,rd->r", counts, up_to[edge])
        return number

    total = below(np.full(len(counts), len(table)))
    for at, share in enumerate(shares):
        target = share * total
        low, high = np.zeros(len(counts), dtype=np.int64), np.full(len(counts), len(table) - 1)
        while (low < high).any():  # the first cell up to whose end there are enough
            middle = (low + high) // 2
            enough = below(middle + 1) >= target
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        before = below(low)
        within = (target - before) / np.maximum(below(low + 1) - before, 1e-9)
        found[at] = edges[low] + within * (edges[low + 1] - edges[low])
    return found
