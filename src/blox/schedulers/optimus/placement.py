"""Placement: each job on as few servers as hold it, its workers and parameter servers dealt evenly.

Transfer between servers is least when a job's tasks are spread evenly over the fewest servers (theorem 1 of
the paper). Jobs go smallest first, so that as many as possible are placed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from blox.schedulers.optimus.allocation import Demand
from blox.workloads.table import Array

Nodes = tuple[tuple[int, int], ...]  # (node, GPUs) pairs of a job without servers


@dataclass(frozen=True)
class Tasks:
    """What is to be placed of one job: parameter servers and workers, and what each of them takes."""

    servers: int
    workers: int
    server: Demand
    worker: Demand


class Placed(NamedTuple):
    """Per job {machine: (parameter servers, workers)}, empty where it waits; the order; what stays free."""

    where: list[dict[int, tuple[int, int]]]
    order: list[int]
    free: list[dict[str, float]]


def place(jobs: Sequence[Tasks], machines: Sequence[Demand], *, partly: bool = False) -> Placed:
    """Places jobs by increasing number of tasks, each on the smallest number k of the machines with the most
    free CPU that hold it when its tasks are dealt to them in turn.

    A job that fits nowhere waits; with `partly` it gets as many tasks as can be placed, parameter servers
    and workers in turn, if that is one of each at least. Equals go in order.
    """
    free = [dict(machine) for machine in machines]
    where: list[dict[int, tuple[int, int]]] = [{} for _ in jobs]
    order = sorted(range(len(jobs)), key=lambda number: jobs[number].servers + jobs[number].workers)
    for number in order:
        job = jobs[number]
        if job.servers + job.workers == 0:
            continue
        freest = sorted(range(len(free)), key=lambda machine: -free[machine].get("cpu", 0.0))
        for count in range(1, len(free) + 1):
            dealt = {
                m: (_dealt(job.servers, i, count), _dealt(job.workers, i, count))
                for i, m in enumerate(freest[:count])
            }
            if all(_holds(free[machine], job, *tasks) for machine, tasks in dealt.items()):
                where[number] = {machine: tasks for machine, tasks in dealt.items() if any(tasks)}
                break
        else:
            if partly:
                where[number] = _part_of(job, freest, free)
        for machine, tasks in where[number].items():
            for resource, amount in _taken(job, *tasks).items():
                free[machine][resource] -= amount
    return Placed(where, order, free)


def place_replicas(replicas: Sequence[int], current: Sequence[Nodes], capacity: Sequence[int]) -> list[Nodes]:
    """Where so many replicas of each job go, without servers: (node, GPUs) pairs in the order of taking them.

    A job whose number of GPUs is unchanged keeps its nodes. The others, those with the fewest GPUs first,
    fill the node with the most free GPUs, then the next, until they have all; equals go in order. This is
    how the Pollux artifact places for Optimus, which remembers the order of nodes: its measured step times
    depend on it. What does not fit is left out.
    """
    free = list(capacity)
    where: list[Nodes] = [
        tuple(held) if sum(gpus for _, gpus in held) == count else ()
        for held, count in zip(current, replicas, strict=True)
    ]
    for held in where:
        for node, gpus in held:
            free[node] -= gpus
    for job in sorted(range(len(where)), key=lambda job: replicas[job]):
        left = 0 if where[job] else int(replicas[job])
        taken = []
        while left and max(free, default=0) > 0:
            node = free.index(max(free))
            taken.append((node, min(left, free[node])))
            left -= taken[-1][1]
            free[node] -= taken[-1][1]
        where[job] = where[job] or tuple(taken)
    return where


def transfer(layout: Array) -> float:
    """The largest traffic of any task across machines, in model sizes: `layout` has a row (parameter servers,
    workers) per machine.

    A parameter server holds an equal part of the model and exchanges it with every worker elsewhere; a worker
    exchanges a part with every parameter server elsewhere.
    """
    servers, workers = np.asarray(layout).T
    part = 1 / max(servers.sum(), 1)
    by_server = np.where(servers > 0, workers.sum() - workers, 0)
    by_worker = np.where(workers > 0, servers.sum() - servers, 0)
    return float(part * max(by_server.max(initial=0), by_worker.max(initial=0)))


def _dealt(tasks: int, place: int, machines: int) -> int:
    """How many of `tasks` the machine at `place` gets when they are dealt in turn."""
    return tasks // machines + (place < tasks % machines)


def _taken(job: Tasks, servers: int, workers: int) -> dict[str, float]:
    taken: dict[str, float] = {}
    for demand, count in ((job.server, servers), (job.worker, workers)):
        for resource, amount in demand.items():
            taken[resource] = taken.get(resource, 0.0) + amount * count
    return taken


def _holds(free: Mapping[str, float], job: Tasks, servers: int, workers: int) -> bool:
    taken = _taken(job, servers, workers)
    return all(amount <= free.get(resource, 0.0) + 1e-9 for resource, amount in taken.items())


def _part_of(
    job: Tasks, machines: Sequence[int], free: Sequence[Mapping[str, float]]
) -> dict[int, tuple[int, int]]:
    """As many tasks as can be placed, in turn, each on the first machine with room; one of each, or none."""
    held = dict.fromkeys(machines, (0, 0))
    left = {"server": job.servers, "worker": job.workers}
    turn = ["server", "worker"]
    while turn:
        kind = turn.pop(0)
        if not left[kind]:
            continue
        for machine in machines:
            more = held[machine][0] + (kind == "server"), held[machine][1] + (kind == "worker")
            if _holds(free[machine], job, *more):
                held[machine] = more
                left[kind] -= 1
                turn.append(kind)
                break
    if left["server"] == job.servers or left["worker"] == job.workers:
        return {}
    return {machine: tasks for machine, tasks in held.items() if any(tasks)}
