"""Which nodes a job may use if it or the schedule is bound to GPU types, or nodes are reserved."""

from __future__ import annotations

import numpy as np

from blox import BloxError, ClusterState, JobState, Schedule
from blox.state.windows import closed_nodes
from blox.workloads.table import Array


def allowed_nodes(
    schedule: Schedule, cluster: ClusterState, job_state: JobState, *, reserved: bool = True
) -> dict[int, Array] | None:
    """Row -> mask of the nodes that it may use; None: no job, schedule or reservation restricts any.

    `reserved=False`: ignores reservations.
    """
    windows = cluster.windows if reserved else ()
    if schedule.gpu_type is None and not job_state.typed and not windows:
        return None
    closed = closed_nodes(windows, cluster.nodes, schedule.jobs, job_state)
    masks: dict[str, Array] = {"": np.ones(cluster.nodes, dtype=bool)}
    allowed: dict[int, Array] = {}
    names = job_state.columns.gpu_types[schedule.jobs]
    for position, (row, text) in enumerate(zip(schedule.jobs.tolist(), names.tolist())):
        if text not in masks:
            known = [i for i, name in enumerate(cluster.gpu_types) if name in text.split("|")]
            if not known:
                job_id = job_state.columns.job_id[row]
                raise BloxError(
                    f"job {job_id!r} may use {text} only, and the cluster has {', '.join(cluster.gpu_types)}",
                    fix="give the cluster such GPUs, or leave the job out",
                )
            masks[text] = np.isin(cluster.node_type, known)
        mask = masks[text]
        if schedule.gpu_type is not None and int(schedule.gpu_type[position]) >= 0:
            mask = mask & (cluster.node_type == int(schedule.gpu_type[position]))
        shut = closed[position]
        allowed[row] = mask if shut is None else mask & ~shut
    return allowed
