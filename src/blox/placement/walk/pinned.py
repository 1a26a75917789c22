"""Placement of schedules that name GPUs themselves (`pinned`), as Pollux's do.

Every walk is replaced by this one when a schedule has pins, so such a scheduler works with every placement
policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from blox import Allocation, ClusterState, JobState, Plan, Schedule
from blox.placement.walk.room import Shares
from blox.state.leases import Pins
from blox.workloads.table import Array


def pins(wanted: Mapping[int, Shares], cluster_state: ClusterState) -> dict[int, tuple[int, ...]]:
    """Row -> GPU ids, from row -> shares of nodes, for policies that decide by node.

    A job that stays on the same nodes with the same counts keeps its GPUs; other jobs, in the order of
    `wanted`, get the lowest ids that no job keeps.
    """
    now = cluster_state.allocation.as_dict()
    node_of = cluster_state.gpu_node.tolist()
    kept: dict[int, tuple[int, ...]] = {}
    for row, shares in wanted.items():
        held = now.get(row, ())
        if Counter(node_of[gpu] for gpu in held) == dict(shares):
            kept[row] = tuple(gpu for node, _ in shares for gpu in held if node_of[gpu] == node)
    taken = {gpu for ids in kept.values() for gpu in ids}
    free: dict[int, list[int]] = {}
    for gpu, node in enumerate(node_of):
        if gpu not in taken:
            free.setdefault(node, []).append(gpu)
    return {
        row: kept.get(row) or tuple(free[node].pop(0) for node in node_of_each(shares))
        for row, shares in wanted.items()
    }


def node_of_each(shares: Shares) -> list[int]:
    """The node of each GPU of a job, in the order of its shares."""
    return [node for node, count in shares for _ in range(count)]


def held_by_node(rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
    """Number of GPUs that each of these jobs holds on each node: jobs x nodes."""
    place = np.full(job_state.submitted + 1, -1)  # the last entry is for GPUs without an owner
    place[rows] = np.arange(len(rows))
    of_job, nodes = place[cluster_state.owner], cluster_state.nodes
    cell = (of_job * nodes + cluster_state.gpu_node)[of_job >= 0]
    return np.bincount(cell, minlength=len(rows) * nodes).reshape(-1, nodes)


def place_pinned(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
    """Gives jobs with pins those GPUs, in that order of ids; other jobs, in order, the lowest that are left.

    No job is displaced: a job without pins that does not fit is passed over, or ends the walk if `strict`.
    The columns `config`, `cpu` and `memory_gb` of the schedule become grants: a job whose GPUs stay and
    whose configuration changes is adjusted, not restarted. Two jobs that `share_group` names to one another
    may be pinned to the same GPUs; a job whose partner changes is adjusted."""
    pinned, now = schedule.pinned or {}, cluster_state.holdings
    columns = {name: getattr(schedule, name) for name in ("config", "cpu", "memory_gb", "share_group")}
    columns = {name: column for name, column in columns.items() if column is not None}
    if isinstance(pinned, Pins) and len(pinned) == len(schedule.jobs) and now.bare and not columns:
        return _exchange(pinned, cluster_state, job_state)
    taken = np.zeros(len(cluster_state.gpu_node), dtype=bool)
    taken[[gpu for ids in pinned.values() for gpu in ids]] = True
    free = np.flatnonzero(~taken & cluster_state.node_up[cluster_state.gpu_node]).tolist()
    need: Array = job_state.columns.gpus.take(schedule.jobs) if schedule.gpus is None else schedule.gpus
    places: list[int] = []
    granted: dict[int, tuple[int, ...]] = {}
    blocked = False
    for place in schedule.order.tolist():
        row, count = int(schedule.jobs[place]), int(need[place])
        if row in pinned:
            granted[row] = pinned[row]
        elif count <= len(free):
            granted[row], free = tuple(free[:count]), free[count:]
        elif schedule.strict:
            blocked = True
            break
        else:
            continue
        places.append(place)
    wanted = Allocation.from_dict(granted)
    wanted = replace(wanted, **{name: column[places] for name, column in columns.items()})
    return Plan.diff(cluster_state.allocation, wanted, blocked=blocked)


def with_configurations(plan: Plan, schedule: Schedule, cluster_state: ClusterState) -> Plan:
    """The same plan, with the configuration (batch size) that the schedule names for each job."""
    assert schedule.config is not None
    config = dict(zip(schedule.jobs.tolist(), schedule.config.tolist()))
    configured = plan.granting(cluster_state.allocation, config=config)
    return configured if configured.empty else replace(configured, settled=False)


def _exchange(pins: Pins, cluster_state: ClusterState, job_state: JobState) -> Plan:
    """The plan if every job is pinned to whole GPUs of its own.

    Compares owners, and plans only for the jobs of GPUs whose owner changes."""
    owner, wanted = cluster_state.owner, pins.owner
    differs = (owner != wanted).nonzero()[0]
    if not len(differs):
        return Plan(settled=True)
    touched = np.zeros(job_state.submitted + 1, dtype=bool)
    touched[owner.take(differs)] = touched[wanted.take(differs)] = True
    touched[-1] = False  # GPUs without an owner
    freed, gpus = touched.take(owner).nonzero()[0], touched.take(wanted).nonzero()[0]
    gpus = gpus.take(wanted.take(gpus).argsort(kind="stable"))
    counts = np.bincount(wanted.take(gpus))  # by row
    rows = counts.nonzero()[0]
    placed = Allocation(rows, counts.take(rows), gpus)
    return Plan.of(np.bincount(owner.take(freed)).nonzero()[0], freed, placed)
