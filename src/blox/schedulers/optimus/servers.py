"""Optimus with parameter servers: workers and servers by marginal gain, placed together on few machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from blox.performance.elastic import batch_asked_for, limits_of_job
from blox.profiles.elastic import elastic_profiles
from blox.schedulers.optimus.allocation import ServerJob, Speed, allocate
from blox.schedulers.optimus.beliefs import Learnt, most_replicas, remaining_s, sampled, step_table
from blox.schedulers.optimus.placement import Nodes, Tasks, place, place_replicas
from blox.schedulers.optimus.speed import Synchronous
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

CORES_PER_GPU = 4.0  # of a cluster that says nothing of cores


class Options(Protocol):
    """What is asked of the policy here."""

    @property
    def beliefs(self) -> str: ...
    @property
    def trust(self) -> float: ...
    @property
    def worker_cpu(self) -> float: ...
    @property
    def server_cpu(self) -> float: ...
    @property
    def profiles(self) -> str: ...


@dataclass(frozen=True)
class Alone:
    """The speed of a job about whose servers nothing is known: one will do; `step_s` by number of workers."""

    by_workers: tuple[float, ...]

    def step_s(self, servers: Array | float, workers: Array | float) -> Array:
        place = np.minimum(np.asarray(workers), len(self.by_workers)) - 1
        return np.asarray(np.asarray(self.by_workers)[place])


def divide_with_servers(
    options: Options, learnt: Learnt, cluster_state: ClusterState, job_state: JobState
) -> tuple[Array, Array]:
    """(servers, workers) of every active job.

    Oracle: a synchronous speed model from the profile, in which sending gradients between nodes once is what
    a server takes to serve one worker. Learnt: one fitted to what the job reported with three numbers of
    tasks; before, servers are taken not to matter.
    """
    columns, rows = job_state.columns, job_state.active
    known, largest = elastic_profiles(options.profiles), int(cluster_state.node_gpus.max())
    own = learnt if options.beliefs == "learnt" else None
    left = remaining_s(job_state, own)
    table = step_table(job_state, own, largest, cluster_state.total_gpus, options.profiles)
    most = most_replicas(job_state, largest, options.profiles)
    worker = {"gpu": 1.0, "cpu": options.worker_cpu}
    server = {"cpu": options.server_cpu}
    jobs = []
    for i, row in enumerate(rows.tolist()):
        gpus, profile = int(columns.gpus[row]), known.get(str(columns.model[row]))
        speed: Speed = Alone(tuple(table[i].tolist()))
        if own is not None:
            speed = sampled(own, row, gpus) or speed
        elif profile is not None:
            alpha_c, beta_c, alpha_n, beta_n = profile.throughput[:4]
            limits = limits_of_job(profile, job_state, row)
            batch = batch_asked_for(profile, gpus, int(columns.batch_size[row]), largest, limits)
            whole = Synchronous((beta_c, alpha_c, alpha_n, beta_n, beta_n), batch)
            unit = float(whole.step_s(1.0, float(gpus)))
            speed = Synchronous(tuple(theta / unit for theta in whole.theta), batch)
        trust = 1.0 if own is None else own.trust(row, options.trust)
        least = max(int(columns.min_gpus[row]), 1)
        jobs.append(ServerJob(float(left[i]), speed, worker, server, trust, least, int(most[i])))
    machines = _machines(cluster_state)
    capacity = {kind: sum(machine[kind] for machine in machines) for kind in ("gpu", "cpu")}
    given = allocate(jobs, capacity)
    return np.array(given.servers, dtype=np.int64), np.array(given.workers, dtype=np.int64)


def place_with_servers(
    options: Options,
    servers: Array,
    workers: Array,
    held: list[Nodes],
    before: dict[int, int],
    rows: Array,
    cluster_state: ClusterState,
) -> list[Nodes]:
    """The nodes of each job's workers.

    A job of unchanged size stays; one that cannot be dealt evenly takes the nodes with the most free GPUs,
    and waits if all of them are not enough.
    """
    worker, server = {"gpu": 1.0, "cpu": options.worker_cpu}, {"cpu": options.server_cpu}
    free = _machines(cluster_state)
    where: list[Nodes] = [()] * len(held)
    for i, row in enumerate(rows.tolist()):
        count = sum(gpus for _, gpus in held[i])
        if count and count == int(workers[i]) and before.get(row) == int(servers[i]):
            where[i] = held[i]
            for place_, (node, gpus) in enumerate(held[i]):
                extra = int(servers[i]) // len(held[i]) + (place_ < int(servers[i]) % len(held[i]))
                free[node]["gpu"] -= gpus
                free[node]["cpu"] -= gpus * options.worker_cpu + extra * options.server_cpu
    moving = [i for i in range(len(held)) if workers[i] and not where[i]]
    tasks = [Tasks(int(servers[i]), int(workers[i]), server, worker) for i in moving]
    placed = place(tasks, free)
    for i, spots in zip(moving, placed.where):
        where[i] = tuple((machine, count) for machine, (_, count) in spots.items() if count)
    left = [int(machine["gpu"]) for machine in placed.free]
    for i in moving:
        if not where[i] and int(workers[i]) <= sum(left):
            where[i] = place_replicas([int(workers[i])], [()], left)[0]
            for node, gpus in where[i]:
                left[node] -= gpus
    return where


def _machines(cluster_state: ClusterState) -> list[dict[str, float]]:
    gpus = np.where(cluster_state.node_up, cluster_state.node_gpus, 0).tolist()
    cores = np.where(cluster_state.node_up, cluster_state.node_cpu, 0.0).tolist()
    return [
        {"gpu": float(count), "cpu": float(core) or CORES_PER_GPU * count} for count, core in zip(gpus, cores)
    ]
