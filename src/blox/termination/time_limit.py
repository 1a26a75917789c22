from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.durations import AT_ONCE, Seconds
from blox.errors import BloxError
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

_GRAIN = 1e-12  # of the time: what is left of a limit is the result of arithmetic, and may miss 0 by so much


@register.termination("time-limit")
@dataclass(frozen=True)
class TimeLimit:
    """Ends a job that has run for its time limit (`limit_s`) and `grace` more, as batch systems do.

    A job without a limit runs to its end. With rounds, a job ends at the first round after its limit.
    """

    grace: Seconds = AT_ONCE

    reason: ClassVar[str] = "it had reached its time limit"

    def __post_init__(self) -> None:
        if not 0 <= self.grace < math.inf:
            raise BloxError(f"grace is {self.grace!r}", fix="grace must be 0 or more: 5m")

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        return job_state.active[self._left_s(job_state) <= _GRAIN * job_state.now]

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        left = np.where(job_state.running, self._left_s(job_state), math.inf)
        return float(job_state.now + np.nanmin(left, initial=math.inf))

    def _left_s(self, job_state: JobState) -> Array:
        """How long each active job may still run; nan: for ever."""
        left: Array = job_state.column("limit_s") + self.grace - job_state.run_s()
        return left
