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
        self._cpu: list[float] = cluster_state.node_cpu.tolist()
        self._memory: list[float] = cluster_state.node_memory_gb.tolist()
        held = shares_of(cluster_state.allocation, cluster_state)
        for row in staying.tolist():  # a draining node has nothing to give, whatever its jobs hold
            for node, count in held[row]:
                if cluster_state.node_up[node]:
                    self.take(row, node, count)

    def choose(self, row: int, need: int) -> list[Share] | None:
        """One node with all that is wanted, the fullest; or one with the GPUs, where most cores are left."""
        cpu, memory = self._wants[row]
        gpus = self.free
        fits = [node for node, free in enumerate(gpus) if free >= need]
        good = [n for n in fits if self._cpu[n] >= need * cpu and self._memory[n] >= need * memory]
        if good:
            return [(min(good, key=lambda node: (gpus[node], node)), need)]
        if self._must_fit:
            return self._collect(need, cpu, memory)
        if fits:
            return [(max(fits, key=lambda node: (self._cpu[node], -gpus[node], -node)), need)]
        return self._collect(need, 0.0, 0.0)

    def take_back(self, row: int, home: Shares) -> bool:
        if self._must_fit:
            cpu, memory = self._wants[row]
            for node, count in home:
                if self._cpu[node] + 1e-9 < count * cpu or self._memory[node] + 1e-9 < count * memory:
                    return False
        return super().take_back(row, home)

    def take(self, row: int, unit: int, count: int) -> None:
        super().take(row, unit, count)
        cpu, memory = self._wants[row]
        self._cpu[unit] -= count * cpu
        self._memory[unit] -= count * memory

    def _collect(self, need: int, cpu: float, memory: float) -> list[Share] | None:
        """The nodes with most free GPUs, as many on each as fit."""
        shares = []
        for node in sorted(range(len(self.free)), key=lambda node: (-self.free[node], node)):
            count = min(need, self.free[node])
            if cpu > 0:
                count = min(count, int(max(self._cpu[node], 0.0) / cpu + 1e-9))
            if memory > 0:
                count = min(count, int(max(self._memory[node], 0.0) / memory + 1e-9))
            if count > 0:
                shares.append((node, count))
                need -= count
                if not need:
                    return shares
        return None
