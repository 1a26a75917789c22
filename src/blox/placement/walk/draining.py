"""Jobs on draining nodes: they stay until they end, and no other job may have their GPUs."""

from __future__ import annotations

import dataclasses

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.state.schedule import Schedule
from blox.workloads.table import Array


def set_aside(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> tuple[Schedule, Array]:
    """The schedule less the running jobs that stay on draining nodes, and the rows of those.

    They are out of the walk: to displace one would free little or nothing, for its node takes no other job.
    """
    if not cluster_state.draining:
        return schedule, NO_ROWS
    on_draining = cluster_state.jobs_on(cluster_state.node_draining.nonzero()[0])
    kept = np.isin(schedule.jobs, on_draining)
    if schedule.gpus is not None:  # one that is resized gives its GPUs up
        kept &= schedule.gpus == job_state.columns.held_gpus.take(schedule.jobs)
    if not kept.any():
        return schedule, NO_ROWS
    columns = {
        field.name: getattr(schedule, field.name)[~kept]
        for field in dataclasses.fields(Schedule)
        if isinstance(getattr(schedule, field.name), np.ndarray) and field.init
    }
    keys = tuple(key[~kept] for key in schedule.keys)
    rest = Schedule(keys=keys, strict=schedule.strict, preempt=schedule.preempt, **columns)
    return rest, schedule.jobs[kept]
