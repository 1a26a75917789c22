"""The synthetic jobs of Gavel's experiments, which Synergy's and Blox's own simulations use too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.registry import register
from blox.workloads.distributions import JobMix, LogQuantiles
from blox.workloads.population import evenly
from blox.workloads.synthetic import Synthetic
from blox.workloads.table import Array

# minutes: 10^U(1.5, 3) for four jobs in five, else 10^U(3, 4)
DURATION_S = LogQuantiles((0, 0.8, 1), (60 * 10**1.5, 60 * 10**3, 60 * 10**4))
SINGLE = JobMix((1,), (1,), (DURATION_S,))
MULTI = JobMix((1, 2, 4, 8), (0.70, 0.10, 0.15, 0.05), (DURATION_S,) * 4)

# of the paper's Table 2, those that Gavel also trains on several GPUs
DISTRIBUTED = ("Resnet-18", "Resnet-50", "LSTM", "Transformer")


@register.workload("gavel")
@dataclass(frozen=True)
class Gavel(Synthetic):
    """Poisson arrivals of Gavel's synthetic jobs: 32 minutes to 7 days long, of one GPU or several.

    Durations are log-uniform in two parts, 16.8 hours on average. All jobs ask for 1 GPU, as in Blox's own
    experiments (128 GPUs are full at 7.6 jobs/hour), or with `multi` for 1, 2, 4 or 8 with the shares 70, 10,
    15 and 5 % (31.9 GPU-hours on average). Options: see `Synthetic`.
    """

    multi: bool = False

    @property
    def whole_mix(self) -> JobMix:
        return MULTI if self.multi else SINGLE

    def models_of(self, gpus: Array, u: Array) -> Array:
        """Table 2, all equally likely; for several GPUs only the ones that Gavel trains so."""
        chosen: Array = np.where(gpus > 1, evenly(DISTRIBUTED, u), super().models_of(gpus, u))
        return chosen
