from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

_BEHIND = "a job submitted before it had to wait for the threshold, and jobs enter in order"


@register.admission("threshold")
@dataclass(frozen=True)
class Threshold:
    """Admits jobs in order while the GPUs asked for by admitted jobs stay within factor x capacity.

    Paper, section 5.1 (FIFO admission control). The job itself counts; one that exceeds the limit alone
    enters when nothing else is admitted. `overshoot=true` is how the original does it: jobs enter as
    long as those *before* them are within the limit, so the last one goes over.
    """

    factor: float = 1.2
    overshoot: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.factor < math.inf:
            raise BloxError(f"factor is {self.factor!r}", fix="factor must be a number above 0")

    def accept(self, new_jobs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        limit = self.factor * cluster_state.total_gpus
        admitted = int(job_state.gpus.sum())
        asked = job_state.columns.gpus[new_jobs]
        total = admitted + np.cumsum(asked)
        within = total - asked <= limit if self.overshoot else total <= limit
        if len(within) and not len(job_state.active):
            within[0] = True
        refused = np.flatnonzero(~within)
        return new_jobs[: refused[0]] if len(refused) else new_jobs

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> Array | str:
        """A job that would exceed the limit, or stands behind such a one."""
        asked = job_state.columns.gpus.take(rows) * (not self.overshoot)
        exceeds = int(job_state.gpus.sum()) + asked > self.factor * cluster_state.total_gpus
        limit = f"admitted jobs asked for GPUs up to {self.factor:g} x capacity"
        # One text for all rows, where that is so, spares a text per waiting job and round.
        return limit if exceeds.all() else np.where(exceeds, limit, _BEHIND)

    stable_until = for_ever  # only a job that finishes makes room
