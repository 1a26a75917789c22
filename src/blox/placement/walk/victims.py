"""Victims: the running jobs that a walk may displace, and where they stand."""

from __future__ import annotations

import numpy as np

from blox.placement.walk.requests import Requests
from blox.state.cluster import ClusterState
from blox.workloads.table import Array

_FIRST_LOOK = 256


class Victims:
    """Running jobs in the order in which they may be released: the last in line first.

    Lists by victim: position in the schedule (`jobs`), place in line, node (-1: several), GPUs. The first
    `off` have been released. Most walks look at the end of the line only, so the lists hold just that;
    `more()` adds those who stand before. The first `beyond` stand behind the front of the line.
    """

    __slots__ = ("_node", "_order", "_place", "_requests", "beyond", "held", "jobs", "nodes", "off", "places")

    def __init__(self, requests: Requests, cluster_state: ClusterState, line: Array, place: Array) -> None:
        """`line` are positions in order, the front or all; `place` is the place in line by position."""
        owner, nodes = requests.allocation.owner, cluster_state.gpu_node
        assert owner is not None
        first, last = np.empty(
            (2, requests.rows + 1), dtype=np.int64
        )  # node of each row; the last: of nobody
        last[owner] = nodes  # GPUs come in ascending order: the last one stays,
        first[owner[::-1]] = nodes[::-1]  # or here the first
        in_line = line[~requests.pending.take(line)]
        behind = _behind(requests, place) if len(line) < len(place) else in_line[:0]
        self._order: Array = np.concatenate((in_line, behind))[::-1]
        rows = requests.schedule.jobs.take(self._order)
        self._node: Array = first.take(rows)
        self._node[self._node != last.take(rows)] = -1
        self._requests, self._place = requests, place
        self.jobs: list[int] = []
        self.places: list[int] = []
        self.nodes: list[int] = []
        self.held: list[int] = []
        self.off, self.beyond = 0, len(behind)
        self.more()

    def more(self) -> bool:
        """Looks further towards the front of the line; False when nobody is there."""
        known = len(self.jobs)
        if known == len(self._order):
            return False
        chunk = slice(known, known + max(_FIRST_LOOK, known))
        jobs = self._order[chunk]
        self.jobs += jobs.tolist()
        self.places += self._place.take(jobs).tolist()
        self.nodes += self._node[chunk].tolist()
        self.held += self._requests.held.take(jobs).tolist()
        return True

    def reach(self, count: int) -> bool:
        """Whether more than `count` are there, in the lists by then."""
        return count < len(self.jobs) or self.more()

    def behind(self, place: int) -> bool:
        """Whether anybody is left who stands behind this place."""
        return self.reach(self.off) and self.places[self.off] > place

    def join(self, place: Array) -> range:
        """The line has become whole: everybody's place is looked up anew. Who of the released joins it."""
        self._place = place
        self.places[:] = place.take(np.array(self.jobs)).tolist()
        released = range(min(self.beyond, self.off))
        self.beyond = 0
        return released


def _behind(requests: Requests, place: Array) -> Array:
    """The running jobs behind the front of the line, in order."""
    running = (~requests.pending).nonzero()[0]
    return requests.schedule.rank(running[place.take(running) == len(place)])
