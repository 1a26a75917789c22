from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from blox.protocols import for_ever
from blox.registry import check_choices, register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule


@register.scheduling("srtf")
@dataclass(frozen=True)
class Srtf:
    """Jobs with the shortest remaining time go first.

    `by=time` orders by believed isolated run time still to go, `by=gpu-time` by that times the GPUs
    asked for, `by=wall` by believed duration less time received (the original Blox, where launching
    costs nothing and every job runs at full speed).
    """

    by: Literal["time", "gpu-time", "wall"] = "time"
    strict: bool = False
    preempt: bool = True

    reads_durations: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choices(self)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        if self.by == "wall":
            key = job_state.expected_s - job_state.run_s()
        else:
            key = job_state.remaining_s()
            if self.by == "gpu-time":
                key = key * job_state.gpus
        return Schedule.ordered(job_state, by=key, strict=self.strict, preempt=self.preempt)

    stable_until = for_ever  # time only moves running jobs ahead of waiting ones, which cannot help those
