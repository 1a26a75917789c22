"""Placement of schedules that place too: Pollux and its kin say themselves which GPUs each job gets.

Every placement policy comes here when a schedule has pins (`place_by_count`, `place_by_node`), so that such
a scheduler works with any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.leases import Pins
from blox.state.plan import Allocation, Draft
from blox.state.schedule import Schedule
from blox.state.sharing import SharedAllocation
from blox.workloads.table import Array

Shares = Sequence[tuple[int, int]]  # (node, GPUs on it) of one job, in the order in which they are taken


def pins(wanted: Mapping[int, Shares], cluster_state: ClusterState) -> dict[int, tuple[int, ...]]:
    """GPU ids for policies that think in nodes: row -> shares of nodes becomes row -> ids.

    A job that stays on the same nodes with the same counts keeps its GPUs; the others get the lowest ids
    that nobody keeps, first come first served.
    """
    now = cluster_state.allocation.as_dict()
    node_of = cluster_state.gpu_node.tolist()
    kept: dict[int, tuple[int, ...]] = {}
    for row, shares in wanted.items():
        held = now.get(row, ())
        if held and Counter(node_of[gpu] for gpu in held) == dict(shares):
            kept[row] = tuple(gpu for node, _ in shares for gpu in held if node_of[gpu] == node)
    taken = {gpu for ids in kept.values() for gpu in ids}
    free: dict[int, list[int]] = {}
    for gpu, node in enumerate(node_of):
        if gpu not in taken:
            free.setdefault(node, []).append(gpu)
    found = {}
    for row, shares in wanted.items():
        if row not in kept:
            ids = []
            for node, count in shares:
                ids += free[node][:count]
                del free[node][:count]
            found[row] = tuple(ids)
        else:
            found[row] = kept[row]
    return found


def held_by_node(rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
    """GPUs that each of these jobs holds on each node: jobs x nodes."""
    place = np.full(job_state.submitted + 1, -1)  # the last one is for GPUs that nobody owns
    place[rows] = np.arange(len(rows))
    owner = cluster_state.allocation.owner
    assert owner is not None
    of_job = place[owner]
    there = of_job >= 0
    held = np.zeros((len(rows), cluster_state.nodes), dtype=np.int64)
    np.add.at(held, (of_job[there], cluster_state.gpu_node[there]), 1)
    return held


def place_pinned(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Allocation:
    """Jobs with pins get those GPUs, in that order of ids; the others, in order, the lowest that are left.

    Nobody is displaced: a job without pins that does not fit is passed over, or ends the walk if `strict`.
    The columns `config`, `cpu` and `memory_gb` of the schedule become grants: a job whose GPUs stay and whose
    configuration changes is adjusted, not restarted. Two jobs that `share_group` names to one another may be
    pinned to the same GPUs; a job whose partner changes is adjusted.
    """
    pinned = schedule.pinned or {}
    if len(pinned) == len(schedule.jobs) and not cluster_state.allocation.grants() and _bare(schedule):
        return _changed(pinned, cluster_state, job_state)
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
    config, cpu, memory_gb, share_group = (
        None if column is None else column[chosen]
        for column in (schedule.config, schedule.cpu, schedule.memory_gb, schedule.share_group)
    )
    kind = Allocation if share_group is None else SharedAllocation
    return kind(
        schedule.jobs[chosen],
        np.array([len(ids) for ids in granted], dtype=np.int64),
        np.array([gpu for ids in granted for gpu in ids], dtype=np.int64),
        blocked=blocked,
        config=config,
        cpu=cpu,
        memory_gb=memory_gb,
        share_group=share_group,
    )


def _bare(schedule: Schedule) -> bool:
    """Whether jobs get whole GPUs and nothing else is said."""
    return all(
        column is None for column in (schedule.config, schedule.cpu, schedule.memory_gb, schedule.share_group)
    )


def _owners(pinned: Mapping[int, tuple[int, ...]], cluster_state: ClusterState) -> Array:
    """The row that is to have each GPU; -1: nobody."""
    if isinstance(pinned, Pins):
        return pinned.owner
    wanted = np.full(len(cluster_state.gpu_node), -1)
    wanted[[gpu for ids in pinned.values() for gpu in ids]] = [
        row for row, ids in pinned.items() for _ in ids
    ]
    return wanted


def _changed(
    pinned: Mapping[int, tuple[int, ...]], cluster_state: ClusterState, job_state: JobState
) -> Allocation:
    """The same outcome as changes of the present allocation, where every job is pinned to GPUs of its own."""
    wanted, now = _owners(pinned, cluster_state), cluster_state.allocation
    owner = now.owner
    assert owner is not None
    differs = owner != wanted
    if not differs.any():
        return now
    if isinstance(pinned, Pins):
        exchanged = _exchanged(differs.nonzero()[0], wanted, now, job_state)
        if exchanged is not None:
            return exchanged
    had, gets = np.zeros((2, job_state.submitted + 1), dtype=bool)  # the last is for GPUs without an owner
    had[owner[differs]] = gets[wanted[differs]] = True
    had[-1] = gets[-1] = False
    touched = (had | gets).nonzero()[0]
    had[owner], gets[wanted] = True, True  # also of those who keep some of their GPUs
    had, gets = had[touched], gets[touched]
    draft = Draft(now, job_state.submitted)
    draft.remove(touched[had])
    for put, rows in ((draft.add, touched[gets & ~had]), (draft.move, touched[gets & had])):
        if len(rows):
            put(rows, *_ids(pinned, wanted, rows))
    return draft.outcome()


def _exchanged(at: Array, wanted: Array, now: Allocation, job_state: JobState) -> Allocation | None:
    """The outcome where the GPUs `at` change hands; None where somebody keeps some of its GPUs."""
    assert now.owner is not None
    held = job_state.columns.held_gpus
    lost: dict[int, int] = {}
    gained: dict[int, list[int]] = {}
    for gpu, old, new in zip(at.tolist(), now.owner.take(at).tolist(), wanted.take(at).tolist()):
        if old >= 0:
            lost[old] = lost.get(old, 0) + 1
        if new >= 0:
            gained.setdefault(new, []).append(gpu)
    new_here = sorted(gained.keys() - lost)
    if held.take([*lost, *new_here]).tolist() != [*lost.values(), *([0] * len(new_here))]:
        return None
    draft = Draft(now, job_state.submitted)
    draft.remove(np.array(sorted(lost), dtype=np.int64))
    for put, rows in ((draft.add, new_here), (draft.move, sorted(lost.keys() & gained))):
        if rows:
            counts = np.array([len(gained[row]) for row in rows])
            put(np.array(rows), counts, np.array([gpu for row in rows for gpu in gained[row]]))
    return draft.outcome()


def _ids(pinned: Mapping[int, tuple[int, ...]], wanted: Array, rows: Array) -> tuple[Array, Array]:
    """(GPUs of each of these jobs, all their ids): in the order of its pins, which may not be ascending."""
    if isinstance(pinned, Pins):  # whose ids ascend: read off from who is to have each GPU
        place = np.full(int(rows.max()) + 1, -1)
        place[rows] = np.arange(len(rows))
        held = np.flatnonzero((wanted >= 0) & (wanted < len(place)))
        of_gpu = place[wanted[held]]
        ids, of_gpu = held[of_gpu >= 0], of_gpu[of_gpu >= 0]
        return np.bincount(of_gpu, minlength=len(rows)), ids[np.argsort(of_gpu, kind="stable")]
    each = [pinned[row] for row in rows.tolist()]
    counts = np.array([len(ids) for ids in each], dtype=np.int64)
    return counts, np.array([gpu for ids in each for gpu in ids], dtype=np.int64)
