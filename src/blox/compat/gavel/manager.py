"""The original's time and its end, over our loop."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blox.compat.gavel.run_state import gavel_run
from blox.manager import BloxManager
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array


@dataclass(frozen=True)
class RoundEnds:
    """Wakes when the round that runs has ended, or, where no job runs, at the next submission."""

    round_s: float = 360.0

    def next_wake(self, now: float, event: float, stable: float) -> float:
        return event if stable == -math.inf else now + self.round_s

    def wakes_before(self, time_s: float) -> int:
        return -1


class Sharing(BloxManager):
    """Two jobs may hold the same GPUs, and a run ends without the jobs that were given up."""

    def _stop_and_free(
        self, rows: Array, at: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> None:
        job_state.stop(rows, at)
        held = cluster_state.allocation
        cluster_state.holdings.replace(held.select(~np.isin(held.jobs, rows)))

    def _stop_if_all_done(self, job_state: JobState) -> None:
        if len(job_state.active) == len(gavel_run(job_state).dropped) and self.backend.exhausted:
            self.terminate = True
