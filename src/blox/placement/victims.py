"""Victims: the running jobs that a walk may displace, and where they stand."""

from __future__ import annotations

import numpy as np

from blox.cluster_state import ClusterState
from blox.placement.requests import Requests
from blox.workloads.table import Array


class Victims:
    """Running jobs that may be released, the last in line at the end: position, node, GPUs, place in line.

    The node is -1 for a job on several nodes.
    """

    __slots__ = ("counts", "home", "nodes", "places", "positions")

    def __init__(self, requests: Requests, cluster_state: ClusterState, place: Array) -> None:
        running = requests.schedule.rank((~requests.pending).nonzero()[0])
        owner = requests.allocation.owner
        assert owner is not None
        held = (owner >= 0).nonzero()[0]
        first, last = np.empty((2, requests.rows), dtype=np.int64)  # GPU of each row
        last[owner[held]] = held  # GPUs come in ascending order: the last one stays,
        first[owner[held][::-1]] = held[::-1]  # or here the first
        rows = requests.schedule.jobs.take(running)
        node = cluster_state.gpu_node[first[rows]]
        several = node != cluster_state.gpu_node[last[rows]]
        self.positions: list[int] = running.tolist()
        self.home: Array = np.full(len(requests.need), -1)  # node by position
        self.home[running] = np.where(several, -1, node)
        self.nodes: list[int] = self.home[running].tolist()
        self.counts: list[int] = requests.held[running].tolist()
        self.places: list[int] = place[running].tolist()

    def behind(self, place: int) -> bool:
        """Whether anybody is left who stands behind this place."""
        return bool(self.places) and self.places[-1] > place

    def drop(self, count: int) -> None:
        """The last so many are victims no more."""
        for column in (self.positions, self.nodes, self.counts, self.places):
            del column[-count:]
