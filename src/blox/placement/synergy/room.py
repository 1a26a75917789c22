"""SynergyRoom: nodes with GPUs, cores and memory, for the walk that every placement shares.

GPUs decide which jobs fit; cores and memory decide where, or with `must_fit` whether at all.
"""

from __future__ import annotations

import numpy as np

from blox.placement.node_placement import shares_of
from blox.placement.synergy.beliefs import Wants
from blox.placement.walk.requests import Requests
from blox.placement.walk.room import Room, Share, Shares


class SynergyRoom(Room):
    """What is left on each node. `must_fit`: a job only goes where all that it wants is left."""

    def __init__(self, requests: Requests, wants: Wants, must_fit: bool) -> None:
        cluster_state = requests.cluster_state
        staying = np.concatenate((requests.schedule.jobs[~requests.pending], requests.kept))
        self._wants, self._must_fit = wants, must_fit
        super().__init__(np.where(cluster_state.node_up, cluster_state.node_gpus, 0).tolist())
        self._left = cluster_state.node_cpu.tolist(), cluster_state.node_memory_gb.tolist()
        held = shares_of(cluster_state.allocation, cluster_state)
        for row in staying.tolist():  # a draining node has nothing to give, whatever its jobs hold
            for node, count in held[row]:
                if cluster_state.node_up[node]:
                    self.take(row, node, count)

    def choose(self, row: int, need: int) -> list[Share] | None:
        """One node with all that is wanted, the fullest; or one with the GPUs, where most cores are left.

        Else the nodes with most free GPUs; with `must_fit`, as many on each as fit.
        """
        gpus, cores = self.free, self._left[0]
        fits = [node for node, free in enumerate(gpus) if free >= need]
        good = [node for node in fits if self._has(row, node, need)]
        if good:
            return [(min(good, key=lambda node: (gpus[node], node)), need)]
        if fits and not self._must_fit:
            return [(max(fits, key=lambda node: (cores[node], -gpus[node], -node)), need)]
        most_free = sorted(range(len(gpus)), key=lambda node: -gpus[node])
        room = Room([self._fitting(row, node) for node in range(len(gpus))]) if self._must_fit else self
        return room.gather(most_free, need)

    def take_back(self, row: int, home: Shares) -> bool:
        if self._must_fit and not all(self._has(row, node, count, slack=1e-9) for node, count in home):
            return False
        return super().take_back(row, home)

    def take(self, row: int, unit: int, count: int) -> None:
        super().take(row, unit, count)
        for left, want in zip(self._left, self._wants[row]):
            left[unit] -= count * want

    def _has(self, row: int, node: int, count: int, slack: float = 0.0) -> bool:
        """Whether a node has the cores and memory left that the job wants with so many GPUs."""
        return all(left[node] + slack >= count * want for left, want in zip(self._left, self._wants[row]))

    def _fitting(self, row: int, node: int) -> int:
        """How many of a node's free GPUs have the cores and memory beside them that the job wants."""
        wants = zip(self._left, self._wants[row])
        enough = [int(max(left[node], 0.0) / want + 1e-9) for left, want in wants if want > 0]
        return min([self.free[node], *enough])
