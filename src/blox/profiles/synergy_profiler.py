"""The optimistic profiler (Synergy, OSDI'22, section 3.1): measures cores, works memory out.

How fast a job is with fewer cores must be tried. What less memory costs can be computed, if memory is a
cache of the data set whose hit ratio is its share of it (as in MinIO): what is not cached comes from storage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from blox.profiles.synergy import Surface
from blox.workloads.table import Array

NOTICEABLE = 0.1  # a tenth longer: the cores that were taken away are missed


@dataclass(frozen=True)
class Dataset:
    """What an epoch reads: the data set (GB), and how fast it comes from memory and from storage (GB/s)."""

    size_gb: float
    memory_gb_per_s: float = 10.0
    storage_gb_per_s: float = 0.5


def measured_cores(epoch_s: Callable[[int], float], most: int) -> dict[int, float]:
    """Epoch times by cores per GPU, at full memory, for as few numbers of cores as tell the story.

    From `most` on the number is halved as long as the time hardly changes; from where it does, one core is
    taken away at a time. `epoch_s(cores)` runs the job for a while: it is called once for each number.
    """
    times = {most: epoch_s(most)}
    cores = most
    while cores > 1:
        half = cores // 2
        times[half] = epoch_s(half)
        if times[half] > (1.0 + NOTICEABLE) * times[cores]:
            for fewer in range(cores - 1, 0, -1):
                if fewer not in times:
                    times[fewer] = epoch_s(fewer)
            break
        cores = half
    return dict(sorted(times.items()))


def epoch_with_memory_s(compute_s: Array, memory_gb: float, data: Dataset) -> Array:
    """Epoch times with so much memory as cache: as fast as computing, or as the data comes."""
    cached = min(memory_gb, data.size_gb)
    reading = cached / data.memory_gb_per_s + (data.size_gb - cached) / data.storage_gb_per_s
    return np.maximum(compute_s, reading)


def storage_demand_gb_per_s(compute_s: float, memory_gb: float, data: Dataset) -> float:
    """How fast storage must be for an epoch to take no longer than its computing; 0 if all is cached."""
    cached = min(memory_gb, data.size_gb)
    time_left = compute_s - cached / data.memory_gb_per_s
    return (data.size_gb - cached) / time_left if time_left > 0 else float("inf")


def optimistic_profile(
    epoch_s: Callable[[int], float],
    most: int,
    memory_gb: Sequence[float],
    data: Dataset,
    fair: tuple[float, float],
) -> Surface:
    """A profile per GPU: cores measured, memory worked out, speed 1 with the `fair` cores and memory."""
    times = measured_cores(epoch_s, most)
    compute = np.array(list(times.values()))
    grid = np.array([1.0 / epoch_with_memory_s(compute, memory, data) for memory in memory_gb]).T
    rough = Surface(np.array(list(times), dtype=np.float64), np.array(memory_gb, dtype=np.float64), grid)
    return Surface(rough.cpu, rough.memory_gb, grid / rough.at(*fair))
