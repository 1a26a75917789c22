from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from blox.backends.simulation import AdjustingSimulation
from blox.profiles.synergy import best_case, model_wants, surfaces
from blox.registry import check_choices, register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array


@register.performance("sensitivity")
@dataclass(frozen=True)
class Sensitivity:
    """Speed follows the CPU cores and memory that a job has per GPU, by its model's profile (Synergy).

    1 is the speed with the proportional share of the node: what every job has whose placement grants
    nothing else, and what its duration is taken to mean. `by=surface` takes the whole profile, linear
    between its points. `by=demand` knows two speeds, as Synergy's simulator does: that of the best case for
    a job that has all of it, else 1. Models without a profile run at speed 1. `profiles` is a file of
    Synergy's own; without, the project's table is used. Whether GPUs are spread does not matter.
    """

    by: Literal["surface", "demand"] = "surface"
    profiles: str = ""

    simulation: ClassVar[type[AdjustingSimulation]] = AdjustingSimulation
    by_nodes: ClassVar[bool] = False
    by_gpu_type: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choices(self)
        surfaces(self.profiles)

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        cpu, memory = grants.cpu, grants.memory_gb
        if cpu is None or memory is None:
            return np.ones(len(grants.jobs))
        shape = node_shape(cluster_state)
        speed = _speed_on_surface if self.by == "surface" else _speed_by_demand
        models = job_state.columns.model.take(grants.jobs).tolist()
        counts = grants.counts.tolist()
        return np.array(
            [
                1.0 if has < 0 else speed(self.profiles, model, count, has, beside, shape)
                for model, count, has, beside in zip(models, counts, cpu.tolist(), memory.tolist())
            ]
        )


def node_shape(cluster_state: ClusterState) -> tuple[int, float, float]:
    """GPUs, cores and memory (GB) of a node; of the first, where they differ."""
    return (
        int(cluster_state.node_gpus[0]),
        float(cluster_state.node_cpu[0]),
        float(cluster_state.node_memory_gb[0]),
    )


@lru_cache(maxsize=65536)
def _speed_on_surface(
    profiles: str, model: str, gpus: int, cpu: float, memory_gb: float, shape: tuple[int, float, float]
) -> float:
    surface = surfaces(profiles).get(model)
    if surface is None:
        return 1.0
    node_gpus, node_cpu, node_memory = shape
    usual = surface.at(node_cpu / node_gpus, node_memory / node_gpus)
    return max(surface.at(cpu / gpus, memory_gb / gpus) / usual, 1e-3)


@lru_cache(maxsize=65536)
def _speed_by_demand(
    profiles: str, model: str, gpus: int, cpu: float, memory_gb: float, shape: tuple[int, float, float]
) -> float:
    demand = best_case(model_wants(cores_per_gpu(shape)).get(model), gpus, *shape)
    return demand.speed if cpu >= demand.cpu and memory_gb >= demand.memory_gb else 1.0


def cores_per_gpu(shape: tuple[int, float, float]) -> int:
    """The set of profiles for such nodes: 3 to 6 cores per GPU were profiled."""
    return min(6, max(3, round(shape[1] / shape[0])))
