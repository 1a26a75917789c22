"""Jobs like those of Microsoft's Philly cluster (the paper's Philly-Trace), without end."""

from __future__ import annotations

from dataclasses import dataclass

from blox.registry import register
from blox.workloads.distributions import JobMix, LogQuantiles
from blox.workloads.philly_statistics import DURATIONS_S, JOBS_BY_GPUS, SHARES
from blox.workloads.synthetic import Synthetic

_TABLES = {size: LogQuantiles(SHARES, values) for sizes, values in DURATIONS_S.items() for size in sizes}
MIX = JobMix(
    sizes=tuple(JOBS_BY_GPUS),
    weights=tuple(JOBS_BY_GPUS.values()),
    durations=tuple(_TABLES[size] for size in JOBS_BY_GPUS),
)


@register.workload("philly")
@dataclass(frozen=True)
class Philly(Synthetic):
    """Poisson arrivals of jobs with the sizes and durations of Microsoft's Philly trace.

    93 % of jobs ask for 1 GPU, the others for up to 128; half run for less than 18 minutes, the mean is 3.7
    hours, or 12 GPU-hours: 128 GPUs are full at 10.7 jobs/hour. Models are those of the paper's Table 2.
    Options: see `Synthetic`.
    """

    @property
    def whole_mix(self) -> JobMix:
        return MIX
