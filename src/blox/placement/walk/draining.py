"""Jobs on draining nodes: they stay until they end, and no other job may have their GPUs."""

from __future__ import annotations

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_COLUMNS = ("gpus", "gpu_type", "share_milli", "cpu", "memory_gb", "config", "share_group")


def set_aside(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> tuple[Schedule, Array]:
    """The schedule less the running jobs that stay on draining nodes, and the rows of those."""
    on_draining = cluster_state.jobs_on(cluster_state.node_draining.nonzero()[0])
    kept = np.isin(schedule.jobs, on_draining)
    if schedule.gpus is not None:  # one that is resized gives its GPUs up
        kept &= schedule.gpus == job_state.columns.held_gpus.take(schedule.jobs)
    columns = {name: getattr(schedule, name) for name in _COLUMNS}
    rest = Schedule(
        schedule.jobs[~kept],
        tuple(key[~kept] for key in schedule.keys),
        schedule.strict,
        schedule.preempt,
        **{name: None if column is None else column[~kept] for name, column in columns.items()},
    )
    return rest, schedule.jobs[kept]
