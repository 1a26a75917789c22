"""Sharing the cores and memory of nodes out among the jobs that stand on them."""

from __future__ import annotations

from typing import NamedTuple

from blox.placement.synergy.model import Choice
from blox.placement.synergy.program import best_points
from blox.profiles.synergy import surfaces
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState

Grants = dict[int, tuple[float, float]]  # row -> cores and memory (GB) in all


class Holding(NamedTuple):
    """A job: its GPUs by node, and the cores and memory (GB) per GPU with which its model is fastest."""

    row: int
    on: tuple[tuple[int, int], ...]  # (node, GPUs)
    cpu: float
    memory_gb: float

    @property
    def gpus(self) -> int:
        return sum(count for _, count in self.on)


def fair_share(holding: Holding, cluster_state: ClusterState) -> tuple[float, float]:
    """Cores and memory per GPU that are a job's by its GPUs: the least over its nodes."""
    return _least(holding, *_per_gpu(cluster_state))


def _per_gpu(cluster_state: ClusterState) -> tuple[list[float], list[float]]:
    """Cores and memory per GPU of each node."""
    gpus = cluster_state.node_gpus
    return (cluster_state.node_cpu / gpus).tolist(), (cluster_state.node_memory_gb / gpus).tolist()


def _least(holding: Holding, cpu: list[float], memory: list[float]) -> tuple[float, float]:
    if len(holding.on) == 1:
        node = holding.on[0][0]
        return cpu[node], memory[node]
    return min(cpu[node] for node, _ in holding.on), min(memory[node] for node, _ in holding.on)


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
    fair = _per_gpu(cluster_state)
    for holding in holdings:
        cpu, memory = _least(holding, *fair)
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
    counts = {each.row: each.gpus for each in holdings}
    return {row: (have[row][0] * gpus, have[row][1] * gpus) for row, gpus in counts.items()}


def best(
    holdings: tuple[Holding, ...],
    cluster_state: ClusterState,
    job_state: JobState,
    profiles: str,
    time_limit_s: float,
) -> tuple[Grants, float]:
    """The grants with the largest sum of speeds that each node's cores and memory allow, and the gap."""
    known, models = surfaces(profiles), job_state.columns.model
    nodes = sorted({node for holding in holdings for node, _ in holding.on})
    place = {node: i for i, node in enumerate(nodes)}
    choices = [
        Choice.of(
            known.get(models[holding.row]),
            holding.gpus,
            fair_share(holding, cluster_state),
            tuple((place[node], count) for node, count in holding.on),
        )
        for holding in holdings
    ]
    if not choices:
        return {}, 0.0
    cpu, memory = (
        [float(column[node]) for node in nodes]
        for column in (cluster_state.node_cpu, cluster_state.node_memory_gb)
    )
    found = best_points(choices, cpu, memory, time_limit_s)
    return {
        holding.row: (point[0] * holding.gpus, point[1] * holding.gpus)
        for holding, point in zip(holdings, found.points)
    }, found.gap


def _take(left: dict[int, list[float]], holding: Holding, amounts: list[float]) -> None:
    for node, count in holding.on:
        for axis, amount in enumerate(amounts):
            left[node][axis] = max(0.0, left[node][axis] - amount * count)
