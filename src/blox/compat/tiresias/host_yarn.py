"""The original's `yarn` placement with all it counts: GPUs, CPU cores and memory of every node.

Rigid gangs within one switch, first fit. It keeps its own account of the nodes, because the original's
goes wrong: see `leak`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from blox.protocols import for_ever
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.state.plan import Allocation, Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

CPU_ALONE, CPU_PER_GPU = 2, 6  # cores: a worker; a worker and a parameter server
WORKER_MEMORY, SERVER_MEMORY, SERVER_MEMORY_PER_GPU = 5, 6, 0.1


@dataclass(frozen=True)
class Piece:
    """What a job holds on one node."""

    node: int
    gpus: int
    cpu: int
    memory: float


@dataclass
class Nodes:
    """Free GPUs, cores and memory by node, and what each job holds, in the order of starting."""

    gpus: list[int]
    cpu: list[float]
    memory: list[float]
    held: dict[int, list[Piece]] = field(default_factory=dict)

    def release(self, row: int) -> None:
        for piece in self.held.pop(row):
            self.gpus[piece.node] += piece.gpus
            self.cpu[piece.node] += piece.cpu
            self.memory[piece.node] += piece.memory

    def take(self, row: int, pieces: list[Piece]) -> None:
        for piece in pieces:
            self.gpus[piece.node] -= piece.gpus
            self.cpu[piece.node] -= piece.cpu
            self.memory[piece.node] -= piece.memory
        self.held[row] = pieces


@dataclass(frozen=True)
class HostYarn:
    """First fit within a switch, counting GPUs, cores and memory as the original does.

    `repack`: every event empties the cluster and places all jobs anew, in order. `leak`: emptying it does
    not give memory back, so that each event takes the memory of running jobs once more.
    """

    repack: bool = False
    leak: bool = False

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        nodes = job_state.memory(self, lambda: _empty(cluster_state))
        status = job_state.columns.status
        for row in [row for row in nodes.held if status[row] == FINISHED]:
            nodes.release(row)
        if self.repack:
            nodes.held = {}
            nodes.gpus, nodes.cpu = cluster_state.node_gpus.tolist(), cluster_state.node_cpu.tolist()
            if not self.leak:
                nodes.memory = cluster_state.node_memory_gb.tolist()
        order = schedule.jobs.take(schedule.order)
        blocked = False
        for row, gpus in zip(order.tolist(), job_state.columns.gpus.take(order).tolist()):
            if row in nodes.held:
                continue
            pieces = _first_fit(nodes, gpus, cluster_state)
            if pieces is not None:
                nodes.take(row, pieces)
            elif schedule.strict:
                blocked = True
                break
        return _allocation(nodes, cluster_state, blocked)

    stable_until = for_ever


def _empty(cluster_state: ClusterState) -> Nodes:
    return Nodes(
        cluster_state.node_gpus.tolist(),
        cluster_state.node_cpu.tolist(),
        cluster_state.node_memory_gb.tolist(),
    )


def _first_fit(nodes: Nodes, gpus: int, cluster_state: ClusterState) -> list[Piece] | None:
    """All GPUs under one switch, switches in order; None if there is no room."""
    racks = cluster_state.node_rack
    edges = [0, *(np.flatnonzero(np.diff(racks)) + 1).tolist(), len(racks)]
    per_node = int(cluster_state.node_gpus[0])
    for first, last in pairwise(edges):
        under = range(first, last)
        pieces = _one_node(nodes, gpus, under) if gpus <= per_node else _several(nodes, gpus, per_node, under)
        if pieces is not None:
            return pieces
    return None


def _one_node(nodes: Nodes, gpus: int, under: range) -> list[Piece] | None:
    cpu = CPU_ALONE if gpus == 1 else CPU_PER_GPU * gpus
    for node in under:
        if nodes.gpus[node] >= gpus and nodes.cpu[node] >= cpu and nodes.memory[node] >= WORKER_MEMORY:
            return [Piece(node, gpus, cpu, WORKER_MEMORY)]
    return None


def _several(nodes: Nodes, gpus: int, per_node: int, under: range) -> list[Piece] | None:
    """Wholly idle nodes, and the first other one with room for the rest."""
    memory = (SERVER_MEMORY + gpus * SERVER_MEMORY_PER_GPU) + WORKER_MEMORY  # per GPU
    whole = Piece(-1, per_node, CPU_PER_GPU * per_node, memory * per_node)
    idle = [n for n in under if nodes.gpus[n] == per_node and _room(nodes, n, whole)][: gpus // per_node]
    if len(idle) < gpus // per_node:
        return None
    pieces = [Piece(node, whole.gpus, whole.cpu, whole.memory) for node in idle]
    rest = gpus % per_node
    if rest:
        last = Piece(-1, rest, CPU_PER_GPU * rest, memory * rest)
        others = (node for node in under if node not in idle and _room(nodes, node, last))
        node = next(others, None)
        if node is None:
            return None
        pieces.append(Piece(node, last.gpus, last.cpu, last.memory))
    return pieces


def _room(nodes: Nodes, node: int, piece: Piece) -> bool:
    return (
        nodes.gpus[node] >= piece.gpus and nodes.cpu[node] >= piece.cpu and nodes.memory[node] >= piece.memory
    )


def _allocation(nodes: Nodes, cluster_state: ClusterState, blocked: bool) -> Plan:
    """GPU ids for what each job holds; a job on the same nodes as before keeps its GPUs."""
    now = cluster_state.allocation
    wanted = {row: {piece.node: piece.gpus for piece in pieces} for row, pieces in nodes.held.items()}
    chosen: dict[int, tuple[int, ...]] = {}
    taken = np.zeros(len(cluster_state.gpu_node), dtype=bool)
    for row in now.jobs.tolist():
        ids = now.gpus_of(row)
        on, counts = np.unique(cluster_state.gpu_node[ids], return_counts=True)
        if wanted.get(row) == dict(zip(on.tolist(), counts.tolist())):
            chosen[row] = tuple(ids.tolist())
            taken[ids] = True
    if len(chosen) == len(wanted) == now.size:
        return Plan(blocked=blocked, settled=True)
    for row, shares in wanted.items():
        if row not in chosen:
            ids = np.concatenate([_free_ids(taken, cluster_state, *share) for share in shares.items()])
            taken[ids] = True
            chosen[row] = tuple(ids.tolist())
    return Plan.diff(now, Allocation.from_dict({row: chosen[row] for row in wanted}), blocked=blocked)


def _free_ids(taken: Array, cluster_state: ClusterState, node: int, count: int) -> Array:
    """The lowest free GPU ids of a node."""
    first = int(cluster_state.node_first[node])
    free: Array = np.flatnonzero(~taken[first : first + int(cluster_state.node_gpus[node])])
    return free[:count] + first
