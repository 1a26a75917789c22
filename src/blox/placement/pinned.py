"""Placement of schedules that place too: Pollux and its kin say themselves which GPUs each job gets.

Every placement policy comes here when a schedule has pins (`place_by_count`, `place_by_node`), so that such
a scheduler works with any of them.
"""

from __future__ import annotations

import numpy as np

from blox.cluster_state import ClusterState
from blox.job_state import JobState
from blox.plan import Allocation
from blox.schedule import Schedule
from blox.workloads.table import Array


def place_pinned(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Allocation:
    """Jobs with pins get those GPUs, in that order of ids; the others, in order, the lowest that are left.

    Nobody is displaced: a job without pins that does not fit is passed over, or ends the walk if `strict`.
    The columns `config`, `cpu` and `memory_gb` of the schedule become grants: a job whose GPUs stay and whose
    configuration changes is adjusted, not restarted.
    """
    pinned = schedule.pinned or {}
    taken = np.zeros(len(cluster_state.gpu_node), dtype=bool)
    taken[[gpu for ids in pinned.values() for gpu in ids]] = True
    free = np.flatnonzero(~taken & cluster_state.node_up[cluster_state.gpu_node]).tolist()
    need: Array = job_state.columns.gpus.take(schedule.jobs) if schedule.gpus is None else schedule.gpus
    places: list[int] = []
    granted: list[tuple[int, ...]] = []
    blocked = False
    for place in schedule.order.tolist():
        row = int(schedule.jobs[place])
        if row in pinned:
            ids = pinned[row]
        else:
            count = int(need[place])
            if count > len(free):
                if schedule.strict:
                    blocked = True
                    break
                continue
            ids, free = tuple(free[:count]), free[count:]
        places.append(place)
        granted.append(ids)
    chosen = np.array(places, dtype=np.int64)
    config, cpu, memory_gb = (
        None if column is None else column[chosen]
        for column in (schedule.config, schedule.cpu, schedule.memory_gb)
    )
    return Allocation(
        schedule.jobs[chosen],
        np.array([len(ids) for ids in granted], dtype=np.int64),
        np.array([gpu for ids in granted for gpu in ids], dtype=np.int64),
        blocked=blocked,
        config=config,
        cpu=cpu,
        memory_gb=memory_gb,
    )
