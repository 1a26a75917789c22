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
_AT_ONCE = 250  # resamples of a histogram, for the sake of memory


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
    """Quantiles of the values in every resample (shares x resamples), linear within a cell of a histogram."""
    counts = resampled_days(days)
    found = np.full((len(shares), len(counts)), math.nan)
    if not len(values):
        return found
    ascending = np.argsort(values, kind="stable")
    size = -(-len(values) // _MOST_CELLS)
    edges = np.append(values[ascending][::size], values.max())
    table = np.zeros((days, len(edges) - 1), dtype=np.float32)
    np.add.at(table, (day[ascending], np.arange(len(values)) // size), 1)
    for begin in range(0, len(counts), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        below = np.cumsum(counts[part] @ table, axis=1, dtype=np.float64)
        rows = np.arange(len(below))
        for at, share in enumerate(shares):
            target = share * below[:, -1]
            cell = (below >= target[:, None]).argmax(axis=1)
            before = np.where(cell > 0, below[rows, cell - 1], 0.0)
            within = (target - before) / np.maximum(below[rows, cell] - before, 1e-9)
            found[at, part] = edges[cell] + within * (edges[cell + 1] - edges[cell])
    return found
