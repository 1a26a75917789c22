"""Leases: which GPUs the jobs of a round get, given the GPU type of each.

A job that stays on its type keeps its GPUs: its lease is extended. The others, the widest first, go to the
node with the fewest free GPUs that has room, or else to several nodes, the emptiest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from blox.state.fractions import TimeShares, choose, gpus_by_type
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.cluster import ClusterState
    from blox.state.jobs import JobState

Pool = dict[int, list[list[int]]]  # free GPUs on a node -> the free ids of each such node


class Pins(Mapping[int, tuple[int, ...]]):
    """Row -> GPU ids, kept as the row that is to have each GPU (`owner`; -1: none) until they are read."""

    def __init__(self, owner: Array, jobs: Array) -> None:
        self.owner, self._jobs = owner, jobs
        self._ids: dict[int, list[int]] | None = None

    def __getitem__(self, job: int) -> tuple[int, ...]:
        if self._ids is None:
            self._ids = {}
            for gpu, row in enumerate(self.owner.tolist()):
                if row >= 0:
                    self._ids.setdefault(row, []).append(gpu)
        return tuple(self._ids[job])

    def __iter__(self) -> Iterator[int]:
        return iter(self._jobs.tolist())

    def __len__(self) -> int:
        return len(self._jobs)


def coming_round(
    shares: TimeShares, cluster_state: ClusterState, job_state: JobState, fill: bool
) -> tuple[Array, Mapping[int, tuple[int, ...]], Array | None]:
    """The jobs of the coming round, the GPU ids of each, and the partner of each (-1: none) if any share."""
    shares.account(job_state, cluster_state)
    width = job_state.columns.gpus.take(shares.members[:, 0])
    running = shares.running(cluster_state)
    rows, types = choose(shares, width, gpus_by_type(cluster_state), running, fill)
    members, need = shares.members[rows], width[rows]
    if not cluster_state.holdings.shared and not (members[:, 1] >= 0).any():
        jobs = members[:, 0].copy()
        pins, stays = pin_alone(jobs, types, need, cluster_state, job_state.submitted)
        shares.count_leases(jobs, stays, job_state.now)
        return jobs, pins, None
    pinned, extended = pin(members.tolist(), types.tolist(), need.tolist(), cluster_state)
    jobs = np.fromiter(pinned, dtype=np.int64, count=len(pinned))
    shares.count_leases(jobs, np.array([extended[job] for job in pinned]), job_state.now)
    beside = {int(a): int(b) for pair in members if pair[1] >= 0 for a, b in (pair, pair[::-1])}
    partners = np.array([beside.get(job, -1) for job in jobs.tolist()])
    return jobs, pinned, partners if beside else None


def pin_alone(
    jobs: Array, types: Array, gpus: Array, cluster_state: ClusterState, submitted: int
) -> tuple[Pins, Array]:
    """Pins for jobs that have their GPUs for themselves, and which of them stay where they are.

    `submitted` is a bound: every row number is below.
    """
    owner = cluster_state.owner
    type_of = np.full(submitted + 1, -1)  # by row: where it is to be; the last entry: GPUs without an owner
    type_of[jobs] = types
    elsewhere = owner[cluster_state.gpu_type != type_of[owner]]  # rows that hold a GPU of another type
    held_gpus = np.bincount(owner + 1, minlength=submitted + 1)[1:]  # the first entry: GPUs without an owner
    held_gpus[elsewhere[elsewhere >= 0]] = 0
    stays: Array = held_gpus.take(jobs) == gpus
    keeps = np.zeros(submitted + 1, dtype=bool)
    keeps[jobs[stays]] = True
    wanted = np.where(keeps[owner], owner, -1)
    moving = (~stays).nonzero()[0]
    if len(moving) and gpus[moving].max() == 1:
        wanted[_fullest_first(types[moving], wanted, cluster_state)] = jobs[moving]
    elif len(moving):
        pools = _pools(set((wanted >= 0).nonzero()[0].tolist()), cluster_state)
        rest = moving[np.argsort(-gpus[moving], kind="stable")]
        for job, kind, need in zip(jobs[rest].tolist(), types[rest].tolist(), gpus[rest].tolist()):
            wanted[list(_take(pools[kind], need))] = job
    return Pins(wanted, jobs), stays


def _fullest_first(types: Array, owner: Array, cluster_state: ClusterState) -> Array:
    """A free GPU of each of these types, on the nodes with the fewest free ones: as if taken one by one."""
    free = ((owner < 0) & cluster_state.node_up[cluster_state.gpu_node]).nonzero()[0]
    node = cluster_state.gpu_node[free]
    line = free[np.bincount(node)[node].argsort(kind="stable")]
    of_type = cluster_state.gpu_type[line]
    found = np.empty(len(types), dtype=np.int64)
    for kind in set(types.tolist()):
        here = (types == kind).nonzero()[0]
        found[here] = line[of_type == kind][: len(here)]
    return found


def pin(
    members: Sequence[Sequence[int]], types: Sequence[int], gpus: Sequence[int], cluster_state: ClusterState
) -> tuple[dict[int, tuple[int, ...]], dict[int, bool]]:
    """GPU ids for jobs, or pairs that share (-1: no partner), and which jobs stay where they were."""
    allocation = cluster_state.allocation
    held: dict[int, tuple[int, ...]] = {}
    ids, at = allocation.gpus.tolist(), 0
    for job, count in zip(allocation.jobs.tolist(), allocation.counts.tolist()):
        held[job] = tuple(ids[at : at + count])
        at += count
    type_of, up = cluster_state.gpu_type.tolist(), cluster_state.node_up[cluster_state.gpu_node].tolist()
    taken: set[int] = set()
    pins: dict[int, tuple[int, ...]] = {}
    stays: dict[int, bool] = {}
    rest = []
    for (job, other), kind, need in zip(members, types, gpus):
        for each in (job, other):
            here = held.get(each, ())
            if len(here) != need or not taken.isdisjoint(here) or any(type_of[gpu] != kind for gpu in here):
                continue
            # On a node that is draining, jobs that are there may stay, and no other may join them.
            both_there = held.get(job) == here and (other < 0 or held.get(other) == here)
            if both_there or all(up[gpu] for gpu in here):
                break
        else:
            rest.append((need, kind, job, other))
            continue
        taken.update(here)
        pins[job] = here
        stays[job] = each == job or held.get(job) == here
        if other >= 0:
            pins[other] = here
            stays[other] = held.get(other) == here
    if rest:
        pools = _pools(taken, cluster_state)
        for need, kind, job, other in sorted(rest, key=lambda each: -each[0]):
            found = _take(pools[kind], need)
            for each in (job, other) if other >= 0 else (job,):
                pins[each], stays[each] = found, False
    return pins, stays


def _pools(taken: set[int], cluster_state: ClusterState) -> list[Pool]:
    pools: list[Pool] = [{} for _ in cluster_state.gpu_types]
    up, kinds = cluster_state.node_up.tolist(), cluster_state.node_type.tolist()
    first, count = cluster_state.node_first.tolist(), cluster_state.node_gpus.tolist()
    for node in range(len(up) - 1, -1, -1):  # so that the last of a list is the lowest node
        if up[node]:
            free = [gpu for gpu in range(first[node], first[node] + count[node]) if gpu not in taken]
            if free:
                pools[kinds[node]].setdefault(len(free), []).append(free)
    return pools


def _take(pool: Pool, need: int) -> tuple[int, ...]:
    """GPUs of the node with the fewest free ones that has enough; else of several, the emptiest first."""
    size = min((size for size in pool if size >= need), default=0) or max(pool)
    nodes = pool[size]
    free = nodes.pop()
    if not nodes:
        del pool[size]
    if size < need:
        return (*free, *_take(pool, need - size))
    if size > need:
        pool.setdefault(size - need, []).append(free[need:])
    return tuple(free[:need])
