"""Configurations: batch sizes that a schedule names, carried over to the allocation that a walk has found."""

from __future__ import annotations

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.plan import Allocation
from blox.state.schedule import Schedule


def configured(schedule: Schedule, wanted: Allocation, cluster_state: ClusterState) -> Allocation:
    """The same GPUs, each job in the configuration that the schedule names for it.

    A job whose GPUs stay and whose configuration changes is adjusted, not restarted. `wanted` itself is
    returned where nothing at all is to change.
    """
    if schedule.config is None:
        return wanted
    order = np.argsort(schedule.jobs, kind="stable")
    config = schedule.config[order[np.searchsorted(schedule.jobs, wanted.jobs, sorter=order)]]
    same = wanted.is_still(cluster_state.allocation)
    if same and wanted.config is not None and np.array_equal(wanted.config, config):
        return wanted
    return Allocation(wanted.jobs, wanted.counts, wanted.gpus, blocked=wanted.blocked, config=config)
