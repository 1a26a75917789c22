"""Which nodes the jobs of an allocation stand on, with what their models want there."""

from __future__ import annotations

from blox.placement.synergy.share import Holding
from blox.placement.walk.room import Share
from blox.state.cluster import ClusterState
from blox.state.plan import Allocation


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
