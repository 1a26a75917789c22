"""The synthetic jobs of Gavel's experiments, which Synergy's and Blox's own simulations use too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from blox.registry import register
from blox.workloads.distributions import JobMix, LogQuantiles
from blox.workloads.population import evenly
from blox.workloads.synthetic import Synthetic
from blox.workloads.table import Array, JobTable

# minutes: 10^U(1.5, 3) for four jobs in five, else 10^U(3, 4)
DURATION_S = LogQuantiles((0, 0.8, 1), (60 * 10**1.5, 60 * 10**3, 60 * 10**4))
SINGLE = JobMix((1,), (1,), (DURATION_S,))
MULTI = JobMix((1, 2, 4, 8), (0.70, 0.10, 0.15, 0.05), (DURATION_S,) * 4)

# of the paper's Table 2, those that Gavel also trains on several GPUs
DISTRIBUTED = ("Resnet-18", "Resnet-50", "LSTM", "Transformer")

# Gavel's job types: a model with a batch size (OSDI'20, Table 2); those of several GPUs come first
_BATCHES = {
    "ResNet-18": (16, 32, 64, 128, 256),
    "ResNet-50": (16, 32, 64, 128),
    "Transformer": (16, 32, 64, 128, 256),
    "LM": (5, 10, 20, 40, 80),
    "Recommendation": (512, 1024, 2048, 4096, 8192),
}
JOB_TYPES = (
    *(f"{model} (batch size {n})" for model, sizes in _BATCHES.items() for n in sizes),
    "A3C",
    "CycleGAN",
)
DISTRIBUTED_TYPES = JOB_TYPES[:19]
URGENT_SHARE, URGENT_WEIGHT = 0.2, 5
SLO_FACTORS = (1.2, 2.0, 10.0)


@register.workload("gavel")
@dataclass(frozen=True)
class Gavel(Synthetic):
    """Poisson arrivals of Gavel's synthetic jobs: 32 minutes to 7 days long, of one GPU or several.

    Durations are log-uniform in two parts, 16.8 hours on average. All jobs ask for 1 GPU, as in Blox's own
    experiments (128 GPUs are full at 7.6 jobs/hour), or with `multi` for 1, 2, 4 or 8 with the shares 70, 10,
    15 and 5 % (31.9 GPU-hours on average). `job_types`: models are Gavel's 26, each with a batch size, all
    equally likely, in place of the seven of Blox's Table 2. `priorities`: one job in five has priority 5.
    `slos`: jobs are to be done in 1.2, 2 or 10 times their duration, all equally likely. Options: see
    `Synthetic`.
    """

    multi: bool = False
    job_types: bool = False
    priorities: bool = False
    slos: bool = False

    @property
    def whole_mix(self) -> JobMix:
        return MULTI if self.multi else SINGLE

    def batches(self, rng: np.random.Generator) -> Iterator[JobTable]:
        tables = super().batches(rng)
        if not (self.priorities or self.slos):
            return tables
        urgency, slo = rng.spawn(2)  # of their own, so that jobs stay the same
        return (self._completed(table, urgency, slo) for table in tables)

    def models_of(self, gpus: Array, u: Array) -> Array:
        """All models equally likely; for several GPUs only the ones that Gavel trains so."""
        of_many = DISTRIBUTED_TYPES if self.job_types else DISTRIBUTED
        of_one = evenly(JOB_TYPES, u) if self.job_types else super().models_of(gpus, u)
        chosen: Array = np.where(gpus > 1, evenly(of_many, u), of_one)
        return chosen

    def _completed(self, table: JobTable, urgency: np.random.Generator, slo: np.random.Generator) -> JobTable:
        columns = dict(table.columns)
        if self.priorities:
            urgent = urgency.random(len(table)) < URGENT_SHARE
            columns["priority"] = np.where(urgent, URGENT_WEIGHT, 1)
        if self.slos:
            factor = np.array(SLO_FACTORS)[slo.integers(len(SLO_FACTORS), size=len(table))]
            columns["deadline_s"] = columns["submit_s"] + factor * columns["duration_s"]
        return replace(table, columns=columns)
