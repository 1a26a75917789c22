"""IntervalSimulation: jobs are advanced from wake-up to wake-up.

The end of a job is known only when it has come. For simulators that count steps or ticks of their own.
"""

from __future__ import annotations

from blox.backends.simulation import Simulation
from blox.errors import BloxError
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array, JobTable


class IntervalSimulation(Simulation):
    """A subclass advances jobs in `collect`, reports their progress, and notes ends by `_ends.put_one`."""

    def resume(self, jobs: JobTable, cluster_state: ClusterState, job_state: JobState) -> None:
        raise BloxError(
            "a run that goes by intervals cannot be looked ahead from: the rest of one is not in the states",
            where="look ahead",
            fix="leave the preset out (--compat)",
        )

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        """Progress is reported, not expected: the rate is 0."""
        return 0.0, job_state.now
