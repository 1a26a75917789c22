"""Placement by rules that pick single GPUs: the walk of `plain.py` over GPUs instead of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from blox import BloxError, ClusterState, JobState, Plan, Schedule
from blox.placement.walk.gpu_types import allowed_nodes
from blox.placement.walk.plain import Walk
from blox.placement.walk.requests import Requests, placed
from blox.placement.walk.room import Room, Share
from blox.workloads.table import Array

# (row, ids of the free GPUs that the job may use, number needed) -> the ids that it takes; None: it waits
Pick = Callable[[int, Array, int], Array | Sequence[int] | None]


def place_by_gpu(schedule: Schedule, cluster_state: ClusterState, job_state: JobState, pick: Pick) -> Plan:
    """The contract of placement for rules that pick single GPUs.

    `pick` is called for one job after another, in order, only if at least as many GPUs are free as the job
    needs; free ids are ascending. Slower than placement by node or count.
    """

    def walk(requests: Requests) -> Plan:
        return Walk(requests, np.arange(len(cluster_state.gpu_node)), _GpuRoom(requests, pick)).run()

    return placed(schedule, cluster_state, job_state, walk)


class _GpuRoom(Room):
    """Which GPUs are free (1 or 0), and the rule that picks GPUs for a job; a share is (GPU id, 1)."""

    def __init__(self, requests: Requests, pick: Pick) -> None:
        holdings, free = requests.holdings, np.zeros(len(requests.cluster_state.gpu_node), dtype=np.int64)
        free[holdings.free.ids_with(holdings.held_by(requests.unlisted))] = 1
        super().__init__(free)
        self._pick, self._node_of = pick, requests.cluster_state.gpu_node
        self._allowed = allowed_nodes(requests.schedule, requests.cluster_state, requests.job_state)

    def choose(self, row: int, need: int) -> list[Share] | None:
        ids = np.flatnonzero(self.free)
        if self._allowed is not None:
            ids = ids[self._allowed[row][self._node_of[ids]]]
        gpus = self._pick(row, ids, need) if len(ids) >= need else None
        if gpus is None:
            return None
        picked = np.asarray(gpus, dtype=np.int64)
        if len(np.intersect1d(picked, ids)) != need or len(picked) != need:
            raise BloxError(
                f"for a job of {need} GPUs the rule picks {picked.tolist()}",
                where="place_by_gpu()",
                fix=f"pick {need} different ids of those that are given as free, or None",
            )
        return [(gpu, 1) for gpu in picked.tolist()]
