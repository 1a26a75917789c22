"""Allocations whose jobs hold cores and memory beside their GPUs: read off, and made out of one another."""

from __future__ import annotations

import numpy as np

from blox.placement.synergy.share import Holding
from blox.state.cluster import ClusterState
from blox.state.plan import Allocation, Plan
from blox.workloads.table import Array

Share = tuple[int, int]  # (node, GPUs)


def shares_of(allocation: Allocation, cluster_state: ClusterState) -> list[tuple[int, list[Share]]]:
    """Each job with its nodes, ascending, and its GPUs on each."""
    nodes: list[int] = cluster_state.gpu_node.take(allocation.gpus).tolist()
    found, begin = [], 0
    for row, count in zip(allocation.jobs.tolist(), allocation.counts.tolist()):
        here = nodes[begin : begin + count]
        begin += count
        on = [(node, here.count(node)) for node in sorted(set(here))] if count > 1 else [(here[0], 1)]
        found.append((row, on))
    return found


def holdings_of(
    wanted: Allocation, wants: dict[int, tuple[float, float]], cluster_state: ClusterState
) -> tuple[Holding, ...]:
    """Each job with its nodes and what its model wants per GPU, by row."""
    shares = shares_of(wanted, cluster_state)
    return tuple(sorted(Holding(row, tuple(on), *wants[row]) for row, on in shares))


def granted(
    wanted: Allocation, now: Allocation, cpu: Array, memory_gb: Array, *, settled: bool
) -> Allocation:
    """The same GPUs with cores and memory beside them; `wanted` itself where nothing at all is to change."""
    if _same(wanted, now, cpu, memory_gb):
        return wanted
    found = Allocation(
        wanted.jobs,
        wanted.counts,
        wanted.gpus,
        used=wanted.used,
        blocked=wanted.blocked,
        settled=settled,
        config=wanted.config,
        cpu=cpu,
        memory_gb=memory_gb,
    )
    if wanted.config is None and (wanted is now or wanted.came_from(now)):
        found.plan = _plan(found, Plan.diff(now, wanted), now)
    return found


def _plan(granted: Allocation, bare: Plan, now: Allocation) -> Plan:
    """The plan from the present allocation to one with grants, given the plan that moves GPUs only."""
    starts, moves = np.isin(granted.jobs, bare.launch.jobs), np.isin(granted.jobs, bare.move.jobs)
    before: dict[int, tuple[float, float]] = {}
    if now.cpu is not None and now.memory_gb is not None:
        before = dict(zip(now.jobs.tolist(), zip(now.cpu.tolist(), now.memory_gb.tolist())))
    assert granted.cpu is not None and granted.memory_gb is not None
    has = zip(granted.jobs.tolist(), zip(granted.cpu.tolist(), granted.memory_gb.tolist()))
    changed = np.array([before.get(row) != grant for row, grant in has], dtype=bool) & ~starts & ~moves
    launch, move, adjust = (granted.select(part) for part in (starts, moves, changed))
    return Plan(granted, launch, bare.suspend, move, adjust, bare.freed, now)


def _same(wanted: Allocation, now: Allocation, cpu: Array, memory_gb: Array) -> bool:
    """Whether nothing at all is to change."""
    return (
        wanted.is_still(now)
        and now.cpu is not None
        and now.memory_gb is not None
        and np.array_equal(now.cpu, cpu)
        and np.array_equal(now.memory_gb, memory_gb)
    )
