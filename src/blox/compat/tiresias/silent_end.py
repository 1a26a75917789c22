"""How the original ends: when no submission and no completion is left, it stops, whoever still waits."""

from __future__ import annotations

from blox.manager import BloxManager
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState


class SilentEnd(BloxManager):
    """A manager that ends a run in which nothing runs and nobody comes; waiting jobs never finish."""

    def _ends_idle(self, wake: float, cluster_state: ClusterState, job_state: JobState) -> bool:
        self.terminate = True
        return True
