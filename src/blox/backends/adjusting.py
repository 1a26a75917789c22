"""AdjustingSimulation: jobs keep their GPUs while something else that decides their speed changes."""

from __future__ import annotations

from blox.backends.simulation import Simulation
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation


class AdjustingSimulation(Simulation):
    """The simulation for performance models whose rates depend on more than GPUs."""

    def adjust(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Jobs go on where they are at another speed, from now on or from the end of their launch."""
        self._checkpoints.note(grants.jobs, job_state.now, job_state)
        begin = progress.rebase(job_state, grants.jobs)
        progress.set_rate(job_state, grants.jobs, self._project(grants, begin, cluster_state, job_state))
