"""Sharing the cores and memory of nodes out among the jobs that stand on them."""

from __future__ import annotations

from typing import NamedTuple

from blox.placement.node_placement import shares_of
from blox.placement.synergy.beliefs import Wants
from blox.placement.synergy.program import Choice, best_points
from blox.placement.walk.room import Share
from blox.profiles.synergy import surfaces
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation

Grants = dict[int, tuple[float, float]]  # row -> cores and memory (GB) in all


class Holding(NamedTuple):
    """A job: its GPUs by node, and the cores and memory (GB) per GPU with which its model is fastest."""

    row: int
    on: tuple[Share, ...]  # (node, GPUs)
    cpu: float
    memory_gb: float

    @property
    def gpus(self) -> int:
        return sum(count for _, count in self.on)


def holdings_of(wanted: Allocation, wants: Wants, cluster_state: ClusterState) -> tuple[Holding, ...]:
    """Each job with its nodes and what its model wants per GPU, by row."""
    shares = shares_of(wanted, cluster_state)
    return tuple(sorted(Holding(row, on, *wants[row]) for row, on in shares.items()))


def fair_shares(holdings: tuple[Holding, ...], cluster_state: ClusterState) -> list[tuple[float, float]]:
    """Cores and memory per GPU that are each job's by its GPUs: the least over its nodes."""
    gpus = cluster_state.node_gpus
    cpu, memory = (cluster_state.node_cpu / gpus).tolist(), (cluster_state.node_memory_gb / gpus).tolist()
    nodes = [[node for node, _ in holding.on] for holding in holdings]
    return [(min(cpu[node] for node in on), min(memory[node] for node in on)) for on in nodes]


def shared(holdings: tuple[Holding, ...], cluster_state: ClusterState) -> Grants:
    """A job that wants no more than its fair share has what it wants; the others share what is left.

    No job that wants more than its fair share has less of anything. Jobs that want least beyond it come
    first, so that many have all they want (ties: the earlier row); the others divide the rest by their
    GPUs."""
    left = {
        node: [float(cluster_state.node_cpu[node]), float(cluster_state.node_memory_gb[node])]
        for holding in holdings
        for node, _ in holding.on
    }
    have: dict[int, list[float]] = {}
    hungry = []
    for holding, (cpu, memory) in zip(holdings, fair_shares(holdings, cluster_state)):
        modest = holding.cpu <= cpu and holding.memory_gb <= memory
        have[holding.row] = [holding.cpu, holding.memory_gb] if modest else [cpu, memory]
        _take(left, holding, have[holding.row])
        if not modest:
            hungry.append((holding.cpu - cpu, holding.memory_gb - memory, holding.row, holding))
    waiting: dict[int, int] = {}  # node -> GPUs of the jobs that do not have all they want
    short = []
    for *_, holding in sorted(hungry):
        more = [holding.cpu - have[holding.row][0], holding.memory_gb - have[holding.row][1]]
        if all(left[node][axis] >= count * more[axis] for node, count in holding.on for axis in (0, 1)):
            have[holding.row] = [holding.cpu, holding.memory_gb]
            _take(left, holding, more)
        else:
            short.append(holding)
            for node, count in holding.on:
                waiting[node] = waiting.get(node, 0) + count
    for holding in short:  # an equal part of what is left for each, and what one cannot use for the next
        more = []
        for axis, want in enumerate((holding.cpu, holding.memory_gb)):
            room = min(left[node][axis] / waiting[node] for node, _ in holding.on)
            more.append(max(0.0, min(want - have[holding.row][axis], room)))
            have[holding.row][axis] += more[axis]
        _take(left, holding, more)
        for node, count in holding.on:
            waiting[node] -= count
    return {each.row: (have[each.row][0] * each.gpus, have[each.row][1] * each.gpus) for each in holdings}


def best(
    holdings: tuple[Holding, ...],
    cluster_state: ClusterState,
    job_state: JobState,
    profiles: str,
    time_limit_s: float,
) -> tuple[Grants, float]:
    """The grants with the largest sum of speeds that each node's cores and memory allow, and the gap."""
    if not holdings:
        return {}, 0.0
    known, models = surfaces(profiles), job_state.columns.model
    nodes = sorted({node for holding in holdings for node, _ in holding.on})
    pool = {node: i for i, node in enumerate(nodes)}
    choices = [
        Choice.of(known.get(models[each.row]), fair, tuple((pool[node], gpus) for node, gpus in each.on))
        for each, fair in zip(holdings, fair_shares(holdings, cluster_state))
    ]
    cpu, memory_gb = cluster_state.node_cpu.take(nodes), cluster_state.node_memory_gb.take(nodes)
    found = best_points(choices, cpu.tolist(), memory_gb.tolist(), time_limit_s)
    chosen = zip(holdings, found.points)
    return {each.row: (point[0] * each.gpus, point[1] * each.gpus) for each, point in chosen}, found.gap


def _take(left: dict[int, list[float]], holding: Holding, amounts: list[float]) -> None:
    for node, count in holding.on:
        for axis, amount in enumerate(amounts):
            left[node][axis] = max(0.0, left[node][axis] - amount * count)
