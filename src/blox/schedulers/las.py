from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from blox.registry import check_choices, register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array


@register.scheduling("las")
@dataclass(frozen=True)
class Las:
    """Jobs that have received the least service go first (least attained service, single queue).

    `by=gpu-time` counts GPUs x time (Tiresias' 2D-LAS), `by=time` time alone (the original Blox).
    """

    by: Literal["gpu-time", "time"] = "gpu-time"
    strict: bool = False
    preempt: bool = True

    def __post_init__(self) -> None:
        check_choices(self)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        service = self._service(job_state)
        return Schedule.ordered(job_state, by=service, strict=self.strict, preempt=self.preempt)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """The first time at which a running job has received as much as one that waits."""
        held = job_state.held_gpus
        waiting = held == 0
        if not waiting.any():
            return math.inf
        service = self._service(job_state)
        levels = service[waiting]
        levels.sort()
        running, speed = service[~waiting], held[~waiting] if self.by == "gpu-time" else 1
        above = levels.searchsorted(running)
        ahead = above < len(levels)
        if not ahead.any():
            return math.inf
        gap = (levels[np.minimum(above, len(levels) - 1)] - running) / speed
        return job_state.now + float(gap[ahead].min())

    def _service(self, job_state: JobState) -> Array:
        return job_state.gpu_seconds() if self.by == "gpu-time" else job_state.run_s()
