"""How the original ends: when no submission and no completion is left, it stops, whoever still waits."""

from __future__ import annotations

import math

from blox.cluster_state import ClusterState
from blox.job_state import JobState
from blox.manager import BloxManager


class SilentEnd(BloxManager):
    """A manager that ends a run in which nothing runs and nobody comes; waiting jobs never finish."""

    def next_round(
        self, cluster_state: ClusterState, job_state: JobState, stable_until: float = -math.inf
    ) -> None:
        idle = not cluster_state.allocation.size
        if idle and self.backend.next_event(cluster_state, job_state) == math.inf:
            self.terminate = True
        super().next_round(cluster_state, job_state, stable_until)
