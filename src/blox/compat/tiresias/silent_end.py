"""How the original ends: when no submission and no completion is left, it stops, even if jobs wait."""

from __future__ import annotations

from blox.manager import BloxManager
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState


class SilentEnd(BloxManager):
    """A manager that ends a run when no job runs and none is to come; waiting jobs never finish."""

    def _ends_idle(self, wake: float, cluster_state: ClusterState, job_state: JobState) -> bool:
        self.terminate = True
        return True
