"""Allocation: the next worker, server or replica goes to the job that gains most by it.

Every job first gets the least it can run with, in order, while that fits. Then the task with the largest
marginal gain is given out, again and again: the fall of a job's remaining time, per unit of what it takes.
A task that does not fit is passed over (the authors' code stops there); what gains nothing is never given.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np

from blox.workloads.table import Array

Demand = Mapping[str, float]  # of one task, by resource: {"cpu": 3, "gpu": 1}
Task = Literal["worker", "ps"]
TASKS: tuple[Task, Task] = ("worker", "ps")


class Speed(Protocol):
    """Seconds per step with so many parameter servers and workers."""

    def step_s(self, servers: Array | float, workers: Array | float) -> Array: ...


@dataclass(frozen=True)
class ServerJob:
    """A job with parameter servers; `trust` below 1 damps its gains while its models are young.

    It runs with `least` workers or more, and can use `most`.
    """

    steps: float  # still to do
    speed: Speed
    worker: Demand
    server: Demand
    trust: float = 1.0
    least: int = 1
    most: float = math.inf

    def seconds(self, servers: int, workers: int) -> float:
        """Until it is done."""
        return self.steps * float(self.speed.step_s(servers, workers))


class Given(NamedTuple):
    """Servers and workers of each job, what remains of each resource, and each grant with its gain."""

    servers: list[int]
    workers: list[int]
    free: dict[str, float]
    grants: list[tuple[int, Task, float]]


def dominant(demand: Demand, capacity: Demand) -> str:
    """The resource of which a task takes the largest part of the cluster; the first of equals."""
    return max(demand, key=lambda resource: demand[resource] / capacity[resource])


def gain(job: ServerJob, servers: int, workers: int, task: Task, capacity: Demand) -> float:
    """Seconds saved by one more `task`, per unit of its dominant resource, before damping."""
    more = (servers, workers + 1) if task == "worker" else (servers + 1, workers)
    demand = job.worker if task == "worker" else job.server
    return (job.seconds(servers, workers) - job.seconds(*more)) / demand[dominant(demand, capacity)]


def allocate(jobs: Sequence[ServerJob], capacity: Demand) -> Given:
    """Workers and servers for every job by marginal gain (algorithm 1 of the paper); 0 where none fit.

    Of equal gains the earlier job's counts, and its worker before its server.
    """
    free = dict(capacity)
    servers, workers = [0] * len(jobs), [0] * len(jobs)
    gains: dict[tuple[int, Task], float] = {}

    def offer(number: int) -> None:
        job = jobs[number]
        for task in TASKS:
            if task == "worker" and workers[number] >= job.most:
                gains.pop((number, task), None)
                continue
            found = gain(job, servers[number], workers[number], task, capacity)
            gains[number, task] = job.trust * found

    for number, job in enumerate(jobs):
        both = {
            r: job.least * job.worker.get(r, 0) + job.server.get(r, 0) for r in {**job.worker, **job.server}
        }
        if _fits(both, free):
            _take(both, free)
            servers[number], workers[number] = 1, job.least
            offer(number)
    grants: list[tuple[int, Task, float]] = []
    while True:
        wanted = [each for each, found in gains.items() if found > 0 and _fits(_demand(jobs, each), free)]
        if not wanted:
            return Given(servers, workers, free, grants)
        best = max(wanted, key=lambda each: (gains[each], -each[0], each[1] == "worker"))
        number, task = best
        _take(_demand(jobs, best), free)
        workers[number] += task == "worker"
        servers[number] += task == "ps"
        grants.append((number, task, gains[best]))
        offer(number)


def allocate_replicas(
    step_s: Array,
    steps: Array,
    gpus: int,
    most: Array | None = None,
    *,
    least: Array | None = None,
    order: Array | None = None,
) -> tuple[Array, list[tuple[int, float]]]:
    """(replicas of each job, grants with their gains): marginal gain per GPU, without servers.

    `step_s` (jobs x replicas) holds seconds per step with 1, 2, ... replicas, `steps` how many are still to
    do, `most` what each may have. Every job first gets one GPU, or `least`, in order (or in `order`, given as
    positions), while that fits; of equal gains the earlier job's counts. This is the form that the Pollux
    artifact simulates, with true step times.
    """
    step_s = np.asarray(step_s, dtype=np.float64)
    jobs, largest = step_s.shape
    saved_s = step_s[:, :-1] - step_s[:, 1:]  # per step, by one more than 1, 2, ... replicas
    steps_each = np.asarray(steps, np.float64).tolist()
    cap = [largest] * jobs if most is None else np.minimum(most, largest).tolist()
    first = [1] * jobs if least is None else np.maximum(least, 1).tolist()
    given, left = [0] * jobs, gpus
    for job in range(jobs) if order is None else order.tolist():
        if first[job] <= min(cap[job], left):
            given[job] = first[job]
            left -= first[job]
    grants = []

    def saved(job: int) -> float:
        """Seconds that one more replica saves a job; nothing beyond what it may have."""
        held = given[job]
        return float(saved_s.item(job, held - 1) * steps_each[job]) if held < cap[job] else 0.0

    # the largest on top, of equals the earlier job
    offers = [(-gain, job) for job, held in enumerate(given) if held and (gain := saved(job)) > 0]
    heapq.heapify(offers)
    while left and offers:
        gain, job = offers[0]
        grants.append((job, -gain))
        given[job] += 1
        left -= 1
        if (more := saved(job)) > 0:
            heapq.heapreplace(offers, (-more, job))
        else:
            heapq.heappop(offers)
    return np.array(given, dtype=np.int64), grants


def _demand(jobs: Sequence[ServerJob], each: tuple[int, Task]) -> Demand:
    return jobs[each[0]].worker if each[1] == "worker" else jobs[each[0]].server


def _fits(demand: Demand, free: Demand) -> bool:
    # A little slack: amounts are floating-point numbers.
    return all(amount <= free.get(resource, 0) + 1e-9 for resource, amount in demand.items())


def _take(demand: Demand, free: dict[str, float]) -> None:
    for resource, amount in demand.items():
        free[resource] -= amount
