"""Intervals for figures that vary: Student's t over seeds, paired differences, percentiles of a bootstrap.

Pure functions over arrays. What they are applied to stands in `samples.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from blox.workloads.table import Array

LEVEL = 0.95
FEWEST_BLOCKS = 5  # fewer blocks of days say nothing about how days vary
_EQUAL = 1e-9  # relative: values that differ by less are equal but for rounding


@dataclass(frozen=True)
class Interval:
    """An estimate, and the bounds that hold the true value with the probability of their level."""

    estimate: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The longer of the two distances from the estimate to a bound."""
        return max(self.high - self.estimate, self.estimate - self.low)

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 is outside: the difference is distinguishable from none."""
        return self.low > 0 or self.high < 0


def mean_interval(values: Array, level: float = LEVEL) -> Interval | None:
    """The mean of independent values with Student's t interval; None for fewer than two."""
    sample = np.asarray(values, dtype=np.float64)
    count = len(sample)
    if count < 2 or not np.isfinite(sample).all():
        return None
    mean = float(sample.mean())
    half = t_quantile((1 + level) / 2, count - 1) * float(sample.std(ddof=1)) / math.sqrt(count)
    return Interval(mean, mean - half, mean + half)


def paired_interval(values: Array, others: Array, level: float = LEVEL) -> Interval | None:
    """The mean of `values - others`, pair by pair: what both share (a seed's jobs) cancels out."""
    return mean_interval(paired_differences(values, others), level)


def paired_differences(values: Array, others: Array) -> Array:
    """`values - others`, pair by pair; 0 where they differ by rounding alone."""
    left, right = np.asarray(values, dtype=np.float64), np.asarray(others, dtype=np.float64)
    equal = np.abs(left - right) <= _EQUAL * np.maximum(np.abs(left), np.abs(right))
    return np.where(equal, 0.0, left - right)


def all_equal(values: Array) -> bool:
    """Whether values differ by rounding at most: they then do not show how a figure varies."""
    return bool(np.allclose(values, values[:1], rtol=_EQUAL, atol=0.0))


def bootstrap_interval(
    estimate: float, resampled: Array, blocks: int, level: float = LEVEL
) -> Interval | None:
    """The interval between percentiles of the resampled estimates, widened for few blocks.

    Plain percentiles cover too little where blocks are few. The levels are therefore those at which a normal
    distribution has Student's t interval of `blocks - 1` degrees of freedom: the expanded percentile
    interval of Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician
    69(4), 2015.
    """
    known = resampled[np.isfinite(resampled)]
    if blocks < FEWEST_BLOCKS or len(known) < 0.9 * max(len(resampled), 1) or not math.isfinite(estimate):
        return None
    quantile = t_quantile((1 + level) / 2, blocks - 1) * math.sqrt(blocks / (blocks - 1))
    tail = 0.5 * math.erfc(quantile / math.sqrt(2))
    low, high = np.quantile(known, (tail, 1 - tail)).tolist()
    return Interval(estimate, min(low, estimate), max(high, estimate))


def resampled_interval(
    estimate: float, resampled: Array, blocks: int, level: float = LEVEL
) -> Interval | None:
    """The interval of an estimate from few resamples of its blocks, which are too few for percentiles.

    The values of a figure over resamples scatter as the figure itself does over other samples of the same
    kind: their standard deviation is its standard error, whatever the number of resamples. It is too small by
    a factor of sqrt(1 - 1 / blocks), and itself an estimate from few values: Student's t with the fewer of
    `blocks` and resamples, less one, degrees of freedom.

    The interval reaches so far from both the estimate and the mean of the resamples, and from the one to the
    other: resamples break up what lasts longer than a block, such as a backlog, so that the two may differ.
    It excludes 0 only where both the estimate and the resamples do, on the same side.
    """
    known = np.asarray(resampled, dtype=np.float64)
    if len(known) < 2 or blocks < 2 or not np.isfinite(known).all() or not math.isfinite(estimate):
        return None
    error = float(known.std(ddof=1)) * math.sqrt(blocks / (blocks - 1))
    half = t_quantile((1 + level) / 2, min(len(known), blocks) - 1) * error
    mean = float(known.mean())
    return Interval(estimate, min(estimate, mean) - half, max(estimate, mean) + half)


@lru_cache(maxsize=256)
def t_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution, for a probability above 1/2 and whole degrees of freedom."""
    low, high = 0.0, 1.0
    while _t_between(high, degrees) < 2 * probability - 1:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if _t_between(middle, degrees) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return high


def _t_between(t: float, degrees: int) -> float:
    """The probability between -t and t: Abramowitz and Stegun, 26.7.3 (odd degrees) and 26.7.4 (even)."""
    angle = math.atan(t / math.sqrt(degrees))
    square = math.cos(angle) ** 2
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= square * (k - 1) / k
        total += term
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total
