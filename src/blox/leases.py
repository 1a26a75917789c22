"""Leases: which GPUs the jobs of a round get where all that was decided is the GPU type of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blox.cluster_state import ClusterState

Pool = dict[int, list[list[int]]]  # free GPUs on a node -> the free ids of each such node


def pin(
    wanted: list[tuple[tuple[int, ...], int, int]], cluster_state: ClusterState
) -> tuple[dict[int, tuple[int, ...]], dict[int, bool]]:
    """GPU ids for (jobs that share, type, GPUs): who stays on its type keeps its GPUs.

    That is a lease which is extended. The others, the widest first, go to the node with the fewest free GPUs
    that has room, or else to several nodes, the emptiest first. Returns the ids of each job, and whether it
    stays where it was.
    """
    allocation = cluster_state.allocation
    held: dict[int, tuple[int, ...]] = {}
    ids, at = allocation.gpus.tolist(), 0
    for job, count in zip(allocation.jobs.tolist(), allocation.counts.tolist()):
        held[job] = tuple(ids[at : at + count])
        at += count
    type_of = cluster_state.gpu_type.tolist()
    taken: set[int] = set()
    pins: dict[int, tuple[int, ...]] = {}
    stays: dict[int, bool] = {}
    rest = []
    for jobs, kind, need in wanted:
        for job in jobs:
            here = held.get(job, ())
            if len(here) == need and type_of[here[0]] == kind and taken.isdisjoint(here):
                break
        else:
            rest.append((jobs, kind, need))
            continue
        taken.update(here)
        for job in jobs:
            pins[job] = here
            stays[job] = held.get(job) == here
    if rest:
        pools = _pools(taken, cluster_state)
        for jobs, kind, need in sorted(rest, key=lambda each: -each[2]):
            found = _take(pools[kind], need)
            for job in jobs:
                pins[job], stays[job] = found, False
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
    fitting = [size for size, nodes in pool.items() if size >= need and nodes]
    if fitting:
        free = pool[min(fitting)].pop()
        found, left = free[:need], free[need:]
        if left:
            pool.setdefault(len(left), []).append(left)
        return tuple(found)
    free = pool[max(size for size, nodes in pool.items() if nodes)].pop()
    return (*free, *_take(pool, need - len(free)))
