"""Every round from an empty cluster: what the servers say, as a difference from what was before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from blox.compat.synergy.demands import Demands
from blox.compat.synergy.servers import Placed, Servers, Share
from blox.performance.sensitivity import node_shape
from blox.protocols import for_ever
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, UNCHANGED, Allocation, Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_APART = 16  # places between two looks: an order that begins like the last one is walked from there on
Grant = tuple[tuple[Share, ...], float, float]  # servers, cores, memory


@dataclass
class _Now:
    """What stands where, as the placement itself left it: the ids behind each job's shares."""

    grants: dict[int, Grant] = field(default_factory=dict)
    ids: dict[int, list[int]] = field(default_factory=dict)
    free: list[list[int]] = field(default_factory=list)  # by server, descending: the lowest comes off first
    order: Array = field(default_factory=lambda: NO_ROWS)
    marks: list[tuple[int, Servers]] = field(default_factory=list)  # servers before that place in the order
    left: int = -1  # free GPUs after the last round; -1: there was none
    demands: Demands = field(default_factory=Demands)


@dataclass(frozen=True)
class Repack:
    """Places every job anew in every round, as the original does; a job placed where it was keeps its GPUs.

    `mode`: `fair` gives proportional shares, `greedy` best cases or nothing, `tune` best cases, fair shares
    where those do not fit, and squeezes peers to theirs where even that does not. `consolidate` looks for
    one server first. `pick_first` chooses the jobs by GPU count before any is placed (LAS), `largest_first`
    then places the largest first.
    """

    mode: Literal["fair", "greedy", "tune"] = "tune"
    consolidate: bool = False
    pick_first: bool = False
    largest_first: bool = False

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        now = job_state.memory(self, _Now)
        demands = now.demands.update(job_state, cluster_state)
        order = schedule.jobs if not schedule.keys else schedule.jobs[schedule.order]
        same = _common(now.order, order)
        if now.left == 0 and same == len(now.order):
            now.order = order
            return UNCHANGED
        if self.pick_first:
            servers = Servers(cluster_state.nodes, *node_shape(cluster_state), self.consolidate)
            chosen = fitting(order.tolist(), demands.gpus, servers.total)
            if self.largest_first:
                chosen = sorted(chosen, key=lambda row: -demands.gpus[row])
            self._walk(servers, chosen, 0, demands)
        else:
            while now.marks and now.marks[-1][0] > same:
                now.marks.pop()
            if now.marks:
                start, servers = now.marks[-1][0], now.marks[-1][1].copy()
            else:
                start, servers = 0, Servers(cluster_state.nodes, *node_shape(cluster_state), self.consolidate)
            now.marks += self._walk(servers, order.tolist(), start, demands)
        now.order, now.left = order, servers.total
        return _changed(now, servers.placed, cluster_state)

    stable_until = for_ever  # the same list gives the same servers

    def _walk(
        self, servers: Servers, order: list[int], start: int, demands: Demands
    ) -> list[tuple[int, Servers]]:
        """Puts jobs on the servers from a place in the order on; returns how they looked on the way."""
        gpus, of_row, mode = demands.gpus, demands.of_row, self.mode
        marks = []
        for place in range(start, len(order)):
            row = order[place]
            if gpus[row] <= servers.total:
                demand = of_row[row]
                servers.put(row, gpus[row], demand.cpu, demand.memory_gb, mode)
                if not servers.total:
                    break
                if not place % _APART and place > start:
                    marks.append((place + 1, servers.copy()))
        return marks


def _common(one: Array, other: Array) -> int:
    """How many places two orders share from the front."""
    size = min(len(one), len(other))
    apart = one[:size] != other[:size]
    return int(apart.argmax()) if apart.any() else size


def fitting(order: list[int], gpus: list[int], free: int) -> list[int]:
    """The jobs that get GPUs when GPUs are merely counted; jobs that do not fit are passed over."""
    chosen = []
    for row in order:
        if gpus[row] <= free:
            free -= gpus[row]
            chosen.append(row)
    return chosen


def _changed(now: _Now, placed: dict[int, Placed], cluster_state: ClusterState) -> Plan:
    """The plan after which every job is where the servers say."""
    if not now.free:
        first, gpus = cluster_state.node_first.tolist(), cluster_state.node_gpus.tolist()
        now.free = [list(range(start + count - 1, start - 1, -1)) for start, count in zip(first, gpus)]
    wanted: dict[int, Grant] = {
        row: (each.shares, each.total_cpu, each.total_memory) for row, each in placed.items()
    }
    present = set(cluster_state.running.tolist())
    old, ids = now.grants, now.ids
    removed: list[int] = []
    moved: list[int] = []
    adjusted: list[int] = []
    freed: list[int] = []
    node_of = cluster_state.gpu_node
    for row in list(old):
        grant = wanted.get(row)
        if grant is not None and grant[0] == old[row][0]:
            if grant != old[row]:
                adjusted.append(row)
            continue
        here = ids.pop(row)
        for gpu, node in zip(here, node_of[here].tolist()):
            now.free[node].append(gpu)
        if row in present:
            freed += here
            (removed if grant is None else moved).append(row)
    launched = [row for row in wanted if row not in old]
    for free in now.free:
        free.sort(reverse=True)
    for row in (*moved, *launched):
        ids[row] = [now.free[server].pop() for server, count in wanted[row][0] for _ in range(count)]
    now.grants = wanted
    launch, move, adjust = (_part(rows, now) for rows in (launched, moved, adjusted))
    leaving, given_up = (np.array(numbers, dtype=np.int64) for numbers in (removed, freed))
    return Plan(launch, leaving, move, adjust, given_up, settled=True)


def _part(rows: list[int], now: _Now) -> Allocation:
    return Allocation(
        np.array(rows, dtype=np.int64),
        np.array([len(now.ids[row]) for row in rows], dtype=np.int64),
        np.array([gpu for row in rows for gpu in now.ids[row]], dtype=np.int64),
        cpu=np.array([now.grants[row][1] for row in rows]),
        memory_gb=np.array([now.grants[row][2] for row in rows]),
    )
