from __future__ import annotations

from dataclasses import dataclass

from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.workloads.table import Array


@register.termination("completed")
@dataclass(frozen=True)
class Completed:
    """Ends no job early: each runs until its work is done."""

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        return NO_ROWS

    stable_until = for_ever
