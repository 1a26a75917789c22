"""What generators with random arrivals share: the options for how often jobs come, spikes and bursts.

A generator adds its own mix of sizes and durations, in one small file under `generators/`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.durations import DAY, Seconds
from blox.errors import BloxError
from blox.registry import name_of
from blox.workloads import population, streams
from blox.workloads.distributions import JobMix
from blox.workloads.limits import MOST_AT_ONCE, MOST_JOBS, above_zero, whole, zero_or_more
from blox.workloads.table import Array, JobTable

HOUR_S = 3600.0
DEFAULT_LOAD = 8.0  # jobs/hour, as in the paper's sections 5.1 and 5.2
BURST_EVERY_S, BURST_LENGTH_S = Seconds(4 * HOUR_S), 2 * HOUR_S
BURST_DURATION_S = (600.0, 3600.0)
WIDEST = 2.0  # of duration_spread: beyond it a few jobs of years hold all the work


@dataclass(frozen=True)
class Synthetic(ABC):
    """Jobs that arrive as a Poisson process of `load` jobs/hour; without end where `jobs` is None.

    - `offered` with `gpus` instead of `load`: as many jobs/hour as would keep the share `offered` of that
      many GPUs busy, by the exact mean GPU-time of a job.
    - `spike_jobs`: so many jobs in addition within one hour (paper 5.1: 16), every `spike_every`, at the
      middle of that time: in the hour from noon of each day. The paper does not say in which hour.
    - `burst_factor`: from `burst_from` on (hour 4), every four hours, for two hours, short jobs in addition
      (10 to 60 minutes, uniform), at `burst_factor` times the load (paper 5.2: 2).
    - `max_gpus`: jobs that would ask for more GPUs are drawn again.
    - `duration_spread`: the logarithms of durations spread so many times as far as measured, while the mean
      duration of jobs of a size stays: at 0 all jobs of a size take equally long.
    - `models`: the networks that jobs train, all equally likely, in place of the paper's Table 2.

    The same seed gives the same steady jobs with and without spikes and bursts, and at another load the
    same jobs at other times. The column job_type says regular, spike or burst.
    """

    load: float = DEFAULT_LOAD
    offered: float | None = None
    gpus: int | None = None
    max_gpus: int | None = None
    duration_spread: float = 1.0
    spike_jobs: int = 0
    spike_every: Seconds = DAY
    burst_factor: float = 0.0
    burst_from: Seconds = BURST_EVERY_S
    jobs: int | None = None
    models: tuple[str, ...] = ()

    endless: ClassVar[bool] = True  # unless `jobs` is given

    def __post_init__(self) -> None:
        above_zero("load", self.load, "jobs per hour")
        whole("gpus", self.gpus, 1)
        whole("max_gpus", self.max_gpus, 1)
        if not 0 <= self.duration_spread <= WIDEST:
            fix = f"give a number from 0 to {WIDEST:g}: 1 is as measured"
            raise BloxError(f"duration_spread is {self.duration_spread!r}", fix=fix)
        whole("spike_jobs", self.spike_jobs, 0, MOST_AT_ONCE)
        if not HOUR_S <= self.spike_every < math.inf:
            raise BloxError(
                f"spike_every is {self.spike_every:g} s", fix="a spike lasts an hour: give 24h, 12h"
            )
        zero_or_more("burst_factor", self.burst_factor, "times the load")
        zero_or_more("burst_from", self.burst_from, "seconds, or 4h, 10d")
        if self.spike_every != DAY and not self.spike_jobs:
            raise BloxError("spike_every is only of use with spike_jobs", fix="give both: add spike_jobs=16")
        if self.burst_from != BURST_EVERY_S and not self.burst_factor:
            fix = "give both: add burst_factor=2"
            raise BloxError("burst_from is only of use with burst_factor", fix=fix)
        whole("jobs", self.jobs, 1, MOST_JOBS)
        self._check_offered()
        if self._burst_jobs > MOST_AT_ONCE:
            raise BloxError(
                f"a burst would have {self._burst_jobs:,.0f} jobs",
                fix=f"give a lower burst_factor or load: at most {MOST_AT_ONCE:,} jobs come in a burst",
            )

    def _check_offered(self) -> None:
        if self.offered is None:
            if self.gpus is not None:
                fix = f"give both: offered=0.9,gpus={self.gpus}"
                raise BloxError("gpus is only of use with offered", fix=fix)
            return
        above_zero("offered", self.offered, "a fraction of the GPUs, such as 0.9")
        if self.gpus is None:
            fix = f"give both: offered={self.offered:g},gpus=128"
            raise BloxError("offered needs the number of GPUs", fix=fix)
        if self.load != DEFAULT_LOAD:
            raise BloxError("load and offered both say how many jobs arrive", fix="give one of the two")

    @property
    @abstractmethod
    def whole_mix(self) -> JobMix:
        """The mix before `max_gpus`: what a generator adds."""

    @property
    def mix(self) -> JobMix:
        """How many GPUs its jobs ask for and how long they run."""
        return self.whole_mix.at_most(self.max_gpus).spread(self.duration_spread)

    @property
    def largest_gpus(self) -> int:
        """The most GPUs that one of its jobs can ask for."""
        return self.mix.largest_gpus

    @property
    def jobs_per_hour(self) -> float:
        """The rate of the steady arrivals; spikes and bursts come on top."""
        if self.offered is None or self.gpus is None:
            return self.load
        return self.offered * self.gpus * HOUR_S / self.mix.mean_gpu_seconds

    @property
    def _burst_jobs(self) -> float:
        """Jobs of a burst, on average."""
        return self.burst_factor * self.jobs_per_hour * BURST_LENGTH_S / HOUR_S if self.burst_factor else 0.0

    def batches(self, rng: np.random.Generator) -> Iterator[JobTable]:
        """Tables in order of submission; ids 0, 1, ..."""
        source = f"{name_of(type(self))} generator"
        return streams.numbered(streams.merged(self._streams(rng)), self.jobs, source)

    def models_of(self, gpus: Array, u: Array) -> Array:
        """The network each job trains: the paper's Table 2, all equally likely."""
        return population.evenly(population.MODELS, u)

    def _models(self, gpus: Array, u: Array) -> Array:
        return population.evenly(self.models, u) if self.models else self.models_of(gpus, u)

    def _streams(self, rng: np.random.Generator) -> list[Iterator[streams.Columns]]:
        # each stream has its own children, whether used or not: adding a spike leaves the other jobs alone
        regular, spike, burst = rng.spawn(3)
        found = [streams.steady(self._draw(regular, "regular"), self.jobs_per_hour, regular)]
        if self.spike_jobs:
            each = self.spike_jobs
            found.append(
                streams.windows(
                    self._draw(spike, "spike"), lambda n: np.full(n, each), each, spike,
                    first_s=self.spike_every / 2, every_s=self.spike_every, length_s=HOUR_S,
                )
            )  # fmt: skip
        if self.burst_factor:
            mean = self._burst_jobs
            found.append(
                streams.windows(
                    self._draw(burst, "burst"), lambda n: burst.poisson(mean, n), mean, burst,
                    first_s=self.burst_from, every_s=BURST_EVERY_S, length_s=BURST_LENGTH_S,
                )
            )  # fmt: skip
        return found

    def _draw(self, rng: np.random.Generator, kind: str) -> streams.Draw:
        sizes, durations, models, people = rng.spawn(4)
        mix = self.mix

        def draw(count: int) -> streams.Columns:
            duration_u = durations.random(count)
            gpus, duration = mix.draw(sizes.random(count), duration_u)
            if kind == "burst":
                shortest, longest = BURST_DURATION_S
                duration = shortest + (longest - shortest) * duration_u
            return {
                "gpus": gpus,
                "duration_s": np.round(duration, 3),
                **population.submitters(people.random(count)),
                "model": self._models(gpus, models.random(count)),
                "job_type": np.full(count, kind, dtype=object),
            }

        return draw
