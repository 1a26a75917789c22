from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array


@register.performance("duration")
@dataclass(frozen=True)
class Duration:
    """Every job runs at the speed that its own duration implies, wherever it is."""

    by_nodes: ClassVar[bool] = False
    by_gpu_type: ClassVar[bool] = False

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        return 1.0
