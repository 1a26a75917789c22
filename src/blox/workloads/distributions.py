"""The distributions that generators draw from. Each turns uniform numbers into values (the inverse of its
cumulative distribution), so that a column takes a fixed count of draws per job, and each knows its exact
mean, from which an offered load becomes a rate of arrival.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import Array


@dataclass(frozen=True)
class LogQuantiles:
    """Values given by their quantiles; between two of them the logarithm of the value is linear.

    `shares` rise from 0 to 1; `values` (above 0) do not fall. With two of them this is the log-uniform
    distribution, with three a mixture of two adjacent ones.
    """

    shares: tuple[float, ...]
    values: tuple[float, ...]

    def at(self, u: Array) -> Array:
        """The quantiles at `u`, each in [0, 1]."""
        values: Array = np.exp(np.interp(u, self.shares, np.log(self.values)))
        return values

    @property
    def mean(self) -> float:
        """The exact mean: a log-uniform piece between a and b averages (b - a) / ln(b / a)."""
        total = 0.0
        for i, (a, b) in enumerate(zip(self.values, self.values[1:])):
            piece = a if a == b else (b - a) / math.log1p((b - a) / a)  # also where b is next to a
            total += (self.shares[i + 1] - self.shares[i]) * piece
        return total

    def spread(self, factor: float) -> LogQuantiles:
        """The logarithms of values spread so many times as far, around another middle: the mean stays.

        1 is this distribution, below it values differ less; at 0 all are the mean.
        """
        powers = LogQuantiles(self.shares, tuple(value**factor for value in self.values))
        return LogQuantiles(self.shares, tuple(value * (self.mean / powers.mean) for value in powers.values))


@dataclass(frozen=True)
class Choices:
    """An index 0, 1, ... drawn with the given weights, which need not add up to 1."""

    weights: tuple[float, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        total = sum(self.weights)
        return tuple(w / total for w in self.weights)

    def at(self, u: Array) -> Array:
        """The index for each of `u` in [0, 1)."""
        edges = np.cumsum(self.shares)[:-1]
        return np.searchsorted(edges, u, side="right")


@dataclass(frozen=True)
class JobMix:
    """How many GPUs jobs ask for, and how many seconds they run given that.

    `sizes`, `weights` and `durations` (seconds) are aligned; sizes rise.
    """

    sizes: tuple[int, ...]
    weights: tuple[float, ...]
    durations: tuple[LogQuantiles, ...]

    def at_most(self, max_gpus: int | None) -> JobMix:
        """The mix of the jobs of at most `max_gpus` GPUs: as if larger ones were drawn again."""
        if max_gpus is None or max_gpus >= self.largest_gpus:
            return self
        kept = sum(size <= max_gpus for size in self.sizes)
        if not kept:
            raise BloxError(
                f"max_gpus is {max_gpus}, and the smallest job asks for {self.sizes[0]}",
                fix=f"give max_gpus={self.sizes[0]} or more",
            )
        return JobMix(self.sizes[:kept], self.weights[:kept], self.durations[:kept])

    def spread(self, factor: float) -> JobMix:
        """The mix with durations that spread so many times as far, at the same mean for each size."""
        if factor == 1:
            return self
        return JobMix(self.sizes, self.weights, tuple(each.spread(factor) for each in self.durations))

    @property
    def largest_gpus(self) -> int:
        """The most GPUs that a job can ask for."""
        return self.sizes[-1]

    @property
    def mean_gpu_seconds(self) -> float:
        """The exact mean of GPUs x seconds over jobs."""
        shares = Choices(self.weights).shares
        return sum(p * size * d.mean for p, size, d in zip(shares, self.sizes, self.durations))

    def draw(self, size_u: Array, duration_u: Array) -> tuple[Array, Array]:
        """GPUs (int64) and seconds of as many jobs as there are numbers in [0, 1) in each array."""
        index = Choices(self.weights).at(size_u)
        duration = np.empty(len(index))
        for table in dict.fromkeys(self.durations):
            members = np.array([d == table for d in self.durations])[index]
            duration[members] = table.at(duration_u[members])
        return np.asarray(self.sizes, dtype=np.int64)[index], duration
