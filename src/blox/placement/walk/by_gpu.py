"""Placement by rules that tell single GPUs apart: the walk of `plain.py`, over GPU ids instead of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from blox.placement.walk.gpu_types import allowed_nodes
from blox.placement.walk.pinned import place_pinned, with_configurations
from blox.placement.walk.requests import Requests
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

# (row, ids of the free GPUs that the job may use, how many it needs) -> the ids that it takes; None: it waits
Pick = Callable[[int, Array, int], Array | Sequence[int] | None]


def place_by_gpu(schedule: Schedule, cluster_state: ClusterState, job_state: JobState, pick: Pick) -> Plan:
    """The contract of placement for rules that pick single GPUs.

    `pick` is asked for one job after another, in order, only where at least as many GPUs are free as the job
    needs; free ids are ascending. A walk over every job in Python: slower than placement by node or count.
    """
    if schedule.pinned is not None:
        return place_pinned(schedule, cluster_state, job_state)
    requests = Requests(schedule, cluster_state, job_state)
    if requests.hopeless:
        plan = requests.unplaced()
    else:
        plan = _GpuWalk(requests, cluster_state, job_state, pick).run()
    return plan if schedule.config is None else with_configurations(plan, schedule, cluster_state)


class _GpuWalk:
    """One walk down a schedule; `_free` says of every GPU whether it is free by now."""

    def __init__(
        self, requests: Requests, cluster_state: ClusterState, job_state: JobState, pick: Pick
    ) -> None:
        self._requests, self._cluster, self._pick = requests, cluster_state, pick
        self._free = np.zeros(len(cluster_state.gpu_node), dtype=bool)
        self._free[requests.change(np.empty(0, dtype=np.int64)).free_ids] = True
        self._allowed = allowed_nodes(requests.schedule, cluster_state, job_state)
        order = requests.schedule.order
        self._rows = requests.schedule.jobs.take(order).tolist()
        self._need = requests.need.take(order).tolist()
        pending = requests.pending.take(order)
        self._pending = pending.tolist()
        self._victims = (~pending).nonzero()[0].tolist()  # places of running jobs; the last is released first
        self._released: dict[int, Array] = {}  # row -> GPUs that it held
        self._placed: dict[int, Array] = {}

    def run(self) -> Plan:
        blocked, returned = False, set()
        for place, (row, need) in enumerate(zip(self._rows, self._need)):
            if not self._pending[place]:
                home = self._released.get(row)
                if home is None:
                    continue  # it runs, and stays
                if self._free[home].all():
                    self._free[home] = False
                    returned.add(row)
                    continue
            gpus = self._find(row, need)
            if gpus is None and self._requests.schedule.preempt:
                gpus = self._displace(place, row, need)
            if gpus is not None:
                self._placed[row] = gpus
                self._free[gpus] = False
            elif self._requests.schedule.strict:
                blocked = True
                break
        return self._plan(sorted({*self._released} - returned), blocked)

    def _find(self, row: int, need: int) -> Array | None:
        """The GPUs that the rule picks for a job among those that are free; None where it finds none."""
        free = self._free
        if self._allowed is not None:
            free = free & self._allowed[row].take(self._cluster.gpu_node)
        ids = free.nonzero()[0]
        gpus = self._pick(row, ids, need) if len(ids) >= need else None
        return None if gpus is None else np.asarray(gpus, dtype=np.int64)

    def _displace(self, place: int, row: int, need: int) -> Array | None:
        """Releases running jobs from the end of the order, only ones behind `place`, until the job fits."""
        off, gpus = [], None
        while gpus is None and self._victims and self._victims[-1] > place:
            victim = self._rows[self._victims[-1]]
            off.append(self._victims.pop())
            self._released[victim] = self._requests.holdings.gpus_of(victim)
            self._free[self._released[victim]] = True
            gpus = self._find(row, need)
        if gpus is None:
            for back in reversed(off):
                self._free[self._released.pop(self._rows[back])] = False
                self._victims.append(back)
        return gpus

    def _plan(self, leaving: list[int], blocked: bool) -> Plan:
        if not self._placed:
            return self._requests.unplaced(np.array(leaving, dtype=np.int64))
        change = self._requests.change(np.array(leaving, dtype=np.int64))
        counts = np.array([len(gpus) for gpus in self._placed.values()])
        change.put(np.array([*self._placed]), counts, np.concatenate([*self._placed.values()]))
        return change.plan(blocked=blocked, settled=not change.moves)
