"""One round of the original: jobs are put on empty servers one after another, and may squeeze each other."""

from __future__ import annotations

import copy
from typing import Literal, NamedTuple

Share = tuple[int, int]  # (server, GPUs on it)
Mode = Literal["fair", "greedy", "tune"]


class Placed(NamedTuple):
    """A job on its servers: cores and memory (GB) per GPU, and in all."""

    shares: tuple[Share, ...]
    gpus: int
    cpu: float
    memory: float
    total_cpu: float
    total_memory: float


class Servers:
    """What is free on each server while a round is worked out, in plain lists: the original's inner loop."""

    def __init__(self, count: int, gpus: int, cpu: float, memory: float, consolidate: bool) -> None:
        self.free_gpus = [gpus] * count
        self.free_cpu = [cpu] * count
        self.free_memory = [memory] * count
        self.total = count * gpus
        self.fair_cpu, self.fair_memory = cpu / gpus, memory / gpus
        self.placed: dict[int, Placed] = {}
        self._on: list[list[int]] = [[] for _ in range(count)]
        self._consolidate = consolidate
        self._first = 0  # all servers before are without free GPUs

    def copy(self) -> Servers:
        """The same servers, to go on from later."""
        twin = copy.copy(self)
        twin.free_gpus, twin.free_cpu = self.free_gpus[:], self.free_cpu[:]
        twin.free_memory, twin.placed = self.free_memory[:], self.placed.copy()
        twin._on = [rows[:] for rows in self._on]
        return twin

    def put(self, row: int, gpus: int, cpu: float, memory: float, mode: Mode) -> bool:
        """Puts a job on servers, with `cpu` and `memory` in all if they are there; False if it stays out."""
        fair_cpu, fair_memory = self.fair_cpu, self.fair_memory
        if mode == "fair":
            cpu, memory = gpus * fair_cpu, gpus * fair_memory
        if gpus == 1 and not self._consolidate:  # most jobs: one look along the servers
            free_gpus, free_cpu, free_memory = self.free_gpus, self.free_cpu, self.free_memory
            for server in range(self._first, len(free_gpus)):
                if free_cpu[server] >= cpu and free_memory[server] >= memory and free_gpus[server]:
                    left = free_gpus[server] - 1
                    free_gpus[server] = left
                    free_cpu[server] -= cpu
                    free_memory[server] -= memory
                    self._on[server].append(row)
                    self.placed[row] = Placed(((server, 1),), 1, cpu, memory, cpu, memory)
                    self.total -= 1
                    if not left:
                        self._skip_full()
                    return True
            shares = None
        else:
            shares = self._find(gpus, cpu / gpus, memory / gpus)
        if shares is None and mode == "tune":
            if cpu > gpus * fair_cpu or memory > gpus * fair_memory:
                cpu, memory = gpus * fair_cpu, gpus * fair_memory
                shares = self._find(gpus, fair_cpu, fair_memory)
            if shares is None:
                self._make_room(gpus, cpu / gpus, memory / gpus)
                shares = self._find(gpus, cpu / gpus, memory / gpus)
        if shares is None:
            return False
        self._take(row, Placed(tuple(shares), gpus, cpu / gpus, memory / gpus, cpu, memory))
        return True

    def _find(self, need: int, cpu: float, memory: float) -> list[Share] | None:
        """Servers for so many GPUs with so much beside each; None if there are not enough."""
        if not self._consolidate:
            return self._collect(range(self._first, len(self.free_gpus)), need, cpu, memory)
        if need > 1:
            best = -1
            for server, free in enumerate(self.free_gpus):
                if (
                    free >= need
                    and self.free_cpu[server] >= need * cpu
                    and self.free_memory[server] >= need * memory
                    and (best < 0 or free < self.free_gpus[best])
                ):
                    best = server
            if best >= 0:
                return [(best, need)]
        fullest = sorted(range(len(self.free_gpus)), key=self.free_gpus.__getitem__)
        return self._collect(fullest, need, cpu, memory)

    def _collect(
        self, servers: range | list[int], need: int, cpu: float, memory: float
    ) -> list[Share] | None:
        free_gpus, free_cpu, free_memory = self.free_gpus, self.free_cpu, self.free_memory
        shares: list[Share] = []
        for server in servers:
            fits = free_gpus[server]
            if not fits:
                continue
            if fits > need:
                fits = need
            if free_cpu[server] < fits * cpu:
                fits = int(free_cpu[server] // cpu)
            if free_memory[server] < fits * memory:
                fits = int(free_memory[server] // memory)
            if fits > 0:
                shares.append((server, fits))
                need -= fits
                if not need:
                    return shares
        return None

    def _take(self, row: int, placed: Placed) -> None:
        self.placed[row] = placed
        self.total -= placed.gpus
        for server, count in placed.shares:
            self.free_gpus[server] -= count
            self.free_cpu[server] -= count * placed.cpu
            self.free_memory[server] -= count * placed.memory
            self._on[server].append(row)
        self._skip_full()

    def _skip_full(self) -> None:
        while self._first < len(self.free_gpus) and not self.free_gpus[self._first]:
            self._first += 1

    def _make_room(self, need: int, cpu: float, memory: float) -> None:
        """Peers give up what they have beyond their fair share, until a job can have its own."""
        for server, count in self._targets(need):
            lack_cpu = count * cpu - self.free_cpu[server]
            lack_memory = count * memory - self.free_memory[server]
            if lack_cpu <= 0 and lack_memory <= 0:
                continue
            placed = self.placed
            peers = sorted(
                self._on[server],
                key=lambda row: (len(placed[row].shares), -placed[row].cpu, -placed[row].memory),
            )
            for row in peers:
                peer = placed[row]
                here = next(gpus for each, gpus in peer.shares if each == server)
                lack_cpu -= here * max(0.0, peer.cpu - self.fair_cpu)
                lack_memory -= here * max(0.0, peer.memory - self.fair_memory)
                self._squeeze(row, peer)
                if lack_cpu <= 0 and lack_memory <= 0:
                    break

    def _targets(self, need: int) -> list[Share]:
        """Where room is made: one server with enough free GPUs if the job has several, else the fullest."""
        if need > 1:
            for server, free in enumerate(self.free_gpus):
                if free >= need:
                    return [(server, need)]
        found: list[Share] = []
        for server in sorted(range(len(self.free_gpus)), key=self.free_gpus.__getitem__):
            count = min(need, self.free_gpus[server])
            if count:
                found.append((server, count))
                need -= count
                if not need:
                    break
        return found

    def _squeeze(self, row: int, peer: Placed) -> None:
        """A job keeps its GPUs and has its fair share beside them, on all its servers."""
        if peer.cpu <= self.fair_cpu and peer.memory <= self.fair_memory:
            return
        for server, count in peer.shares:
            self.free_cpu[server] += count * (peer.cpu - self.fair_cpu)
            self.free_memory[server] += count * (peer.memory - self.fair_memory)
        cpu, memory = self.fair_cpu, self.fair_memory
        self.placed[row] = Placed(peer.shares, peer.gpus, cpu, memory, peer.gpus * cpu, peer.gpus * memory)
