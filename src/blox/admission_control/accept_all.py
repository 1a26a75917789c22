from __future__ import annotations

from dataclasses import dataclass

from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array


@register.admission("accept-all")
@dataclass(frozen=True)
class AcceptAll:
    """Admits every job as soon as it is submitted."""

    def accept(self, new_jobs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        return new_jobs

    stable_until = for_ever
