"""Placement by rules that tell single GPUs apart: the walk of `plain.py` over GPUs in place of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from blox.errors import BloxError
from blox.placement.walk.gpu_types import allowed_nodes
from blox.placement.walk.pinned import place_pinned, with_configurations
from blox.placement.walk.plain import Walk
from blox.placement.walk.requests import Requests
from blox.placement.walk.room import Share
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

# (row, ids of the free GPUs that the job may use, how many it needs) -> the ids that it takes; None: it waits
Pick = Callable[[int, Array, int], Array | Sequence[int] | None]


def place_by_gpu(schedule: Schedule, cluster_state: ClusterState, job_state: JobState, pick: Pick) -> Plan:
    """The contract of placement for rules that pick single GPUs.

    `pick` is asked for one job after another, in order, only where at least as many GPUs are free as the job
    needs; free ids are ascending. Slower than placement by node or count.
    """
    if schedule.pinned is not None:
        return place_pinned(schedule, cluster_state, job_state)
    requests = Requests(schedule, cluster_state, job_state)
    if requests.hopeless:
        plan = requests.unplaced()
    else:
        room = _GpuRoom(requests, cluster_state, job_state, pick)
        plan = Walk(requests, np.arange(len(cluster_state.gpu_node)), room).run()
    return plan if schedule.config is None else with_configurations(plan, schedule, cluster_state)


class _GpuRoom:
    """Which GPUs are free, and the rule by which jobs pick some; a share is a GPU id and 1."""

    def __init__(
        self, requests: Requests, cluster_state: ClusterState, job_state: JobState, pick: Pick
    ) -> None:
        self._pick, self._node_of = pick, cluster_state.gpu_node
        self._allowed = allowed_nodes(requests.schedule, cluster_state, job_state)
        self._free = np.zeros(len(self._node_of), dtype=bool)
        self._free[requests.change(NO_ROWS).free_ids] = True
        self.total = int(self._free.sum())

    def choose(self, row: int, need: int) -> list[Share] | None:
        free = self._free
        if self._allowed is not None:
            free = free & self._allowed[row].take(self._node_of)
        ids = free.nonzero()[0]
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

    def choose_after(self, row: int, need: int, given: list[Share]) -> list[Share] | None:
        return self.choose(row, need)

    def fits(self, row: int, shares: list[Share]) -> bool:
        return all(self._free[gpu] for gpu, _ in shares)

    def take(self, row: int, shares: list[Share]) -> None:
        self._mark(shares, free=False)

    def give(self, row: int, shares: list[Share]) -> None:
        self._mark(shares, free=True)

    def hopeless(self, need: int) -> bool:
        return False

    def refuse(self, need: int) -> None:
        """What one job cannot use, another may."""

    def _mark(self, shares: list[Share], *, free: bool) -> None:
        self._free[[gpu for gpu, _ in shares]] = free
        self.total += len(shares) if free else -len(shares)
