"""Victims: the running jobs that a walk may displace, and where they stand."""

from __future__ import annotations

import numpy as np

from blox.cluster_state import ClusterState
from blox.placement.requests import Requests
from blox.workloads.table import Array

Victim = tuple[int, int, int, int]  # place in line, position, node (-1: several), GPUs

_FIRST_LOOK = 256


class Victims:
    """Running jobs that may be released, the last in line at the end of `last`.

    Most walks look at the end of the line only, so the list holds just that; `more()` puts those who
    stand before in front of them.
    """

    __slots__ = ("_before", "_held", "_place", "home", "last")

    def __init__(self, requests: Requests, cluster_state: ClusterState, line: Array, place: Array) -> None:
        """`line` are positions in order, the front or all; `place` is the place in line by position."""
        running = _in_order(requests, line, place)
        owner, nodes = requests.allocation.owner, cluster_state.gpu_node
        assert owner is not None
        first, last = np.empty(
            (2, requests.rows + 1), dtype=np.int64
        )  # node of each row; the last: of nobody
        last[owner] = nodes  # GPUs come in ascending order: the last one stays,
        first[owner[::-1]] = nodes[::-1]  # or here the first
        rows = requests.schedule.jobs.take(running)
        node = first.take(rows)
        node[node != last.take(rows)] = -1
        self.home: Array = np.empty(len(requests.need), dtype=np.int64)  # node by position, of running jobs
        self.home[running] = node
        self._before: Array = running  # who is not in the list yet
        self._held, self._place = requests.held, place
        self.last: list[Victim] = []
        self.more()

    def more(self) -> bool:
        """Looks further towards the front of the line; False when nobody is there."""
        if not len(self._before):
            return False
        size = max(_FIRST_LOOK, 2 * len(self.last))
        self._before, chunk = self._before[:-size], self._before[-size:]
        self.last[:0] = self._told(chunk)
        return True

    def reach(self, count: int) -> bool:
        """Whether more than `count` are there, in the list by then."""
        return count < len(self.last) or self.more()

    def behind(self, place: int) -> bool:
        """Whether anybody is left who stands behind this place."""
        return self.reach(0) and self.last[-1][0] > place

    def relocate(self, place: Array) -> None:
        """The line has become longer: everybody's place is looked up anew."""
        self._place = place
        self.last[:] = self._told(np.array([job for _, job, _, _ in self.last], dtype=np.int64))

    def _told(self, jobs: Array) -> list[Victim]:
        columns = (self._place.take(jobs), jobs, self.home.take(jobs), self._held.take(jobs))
        return list(zip(*(column.tolist() for column in columns)))


def _in_order(requests: Requests, line: Array, place: Array) -> Array:
    """The positions of running jobs, first in line first; who is beyond the front comes after it."""
    in_line = line[~requests.pending.take(line)]
    if len(line) == len(place):
        return in_line
    running = (~requests.pending).nonzero()[0]
    beyond = running[place.take(running) == len(place)]
    return np.concatenate((in_line, requests.schedule.rank(beyond)))
