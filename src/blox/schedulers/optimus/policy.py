"""The policy: gives GPUs, one by one, to the job that saves most time by one more; few nodes, evenly used."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from blox.errors import BloxError
from blox.placement.walk.pinned import node_of_each, pins
from blox.profiles.elastic import elastic_profiles
from blox.registry import check_choices, register
from blox.schedulers.optimus.allocation import allocate_replicas
from blox.schedulers.optimus.beliefs import Learnt, most_replicas, remaining_s, step_table
from blox.schedulers.optimus.placement import Nodes, place_replicas
from blox.schedulers.optimus.servers import divide_with_servers, place_with_servers
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.leases import Pins
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_NOT_DUE = "it came after a reallocation, and the next one was not due"
_LEFT_OUT = "the GPUs brought other jobs more"
_INTERVAL_S = 600.0  # between two reallocations in the paper


@register.scheduling("optimus")
@dataclass(frozen=True)
class Optimus:
    """Minimises the sum of remaining times by marginal gain (EuroSys'18); sets the GPUs of elastic jobs.

    Speeds are those of `goodput`. Every job first gets the least it can run with, in order of
    remaining time (`first=submission`: in order of submission); then the GPU that saves most is given,
    again and again. `form=replica` counts GPUs; `form=parameter-server` gives out workers (a GPU and
    `worker_cpu` cores) and servers (`server_cpu` cores), each gain per unit of its dominant resource; a
    cluster that says nothing of cores is taken to have four per GPU. `placement=own` puts jobs on few nodes
    and leaves those of unchanged size where they are; `given` leaves it to the placement policy.
    `beliefs=oracle` knows step times (`profiles`) and remaining times; `learnt` fits both to what jobs
    report, and gains count `trust` times while a job was seen with fewer than three numbers of GPUs.
    `interval_s`: reallocates at most so often, in the first round then (the paper: 600 s; 0: every
    round; under the events clock at every event, and 600 s after the last wake-up).
    Departs from the paper where a task does not fit (it is passed over; a job that cannot be dealt evenly
    takes the freest nodes), in min_gpus and max_gpus, and in that simulated jobs exchange gradients by
    all-reduce, also with servers.
    """

    form: Literal["replica", "parameter-server"] = "replica"
    beliefs: Literal["oracle", "learnt"] = "oracle"
    first: Literal["remaining", "submission"] = "remaining"
    placement: Literal["own", "given"] = "own"
    interval_s: float = 0.0
    trust: float = 0.95
    worker_cpu: float = 2.0
    server_cpu: float = 2.0
    profiles: str = ""

    reads_durations: ClassVar[bool] = True
    resizes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choices(self)
        if not 0 <= self.interval_s < math.inf:
            raise BloxError(f"interval_s is {self.interval_s}", fix="interval_s must be 0 or more")
        if not 0 < self.trust <= 1:
            raise BloxError(f"trust is {self.trust}", fix="trust must be above 0, and 1 at most")
        if not (0 < self.worker_cpu < math.inf and 0 < self.server_cpu < math.inf):
            raise BloxError("a task needs some of a core", fix="worker_cpu and server_cpu must be above 0")
        elastic_profiles(self.profiles)

    @property
    def default_performance(self) -> str:
        """Speeds follow the profiles that the policy knows."""
        return f"goodput:profiles={self.profiles}" if self.profiles else "goodput"

    @property
    def wakes_every_s(self) -> float | None:
        """How often it is asked under the events clock, beside events. None: the next time is exact."""
        return None if self.interval_s else _INTERVAL_S

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        rows = job_state.active
        if not len(rows):
            return Schedule(rows)
        memory = job_state.memory(self, Memory)
        if self.beliefs == "learnt":
            memory.learnt.look(job_state, memory.servers)
        if job_state.now < memory.next_s or not cluster_state.node_up.any():
            return _as_they_are(cluster_state, job_state)
        memory.next_s = job_state.now + self.interval_s
        if self.form == "replica":
            gpus = self.divide(memory, cluster_state, job_state)
            servers = np.zeros(len(rows), dtype=np.int64)
        else:
            servers, gpus = divide_with_servers(self, memory.learnt, cluster_state, job_state)
        if self.placement == "given" or job_state.typed:
            runs = gpus > 0
            return Schedule(rows[runs], gpus=gpus[runs])
        if self.form == "replica" and np.array_equal(gpus, job_state.held_gpus):
            return _as_they_are(cluster_state, job_state)
        held = _where_they_are(rows, memory, cluster_state)
        if self.form == "replica":
            capacity = np.where(cluster_state.node_up, cluster_state.node_gpus, 0).tolist()
            where = place_replicas(gpus.tolist(), held, capacity)
        else:
            where = place_with_servers(self, servers, gpus, held, memory.servers, rows, cluster_state)
            memory.servers = dict(zip(rows.tolist(), servers.tolist()))
        memory.where = {row: nodes for row, nodes in zip(rows.tolist(), where) if nodes}
        return self._pinned(rows, where, cluster_state)

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> Array:
        """It came after the last reallocation, or got nothing in it."""
        last_s = job_state.memory(self, Memory).next_s - self.interval_s
        return np.where(job_state.columns.admit_s.take(rows) > last_s, _NOT_DUE, _LEFT_OUT)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Until the next reallocation is due: at once without `interval_s`, since remaining times change."""
        if not len(job_state.active) or not cluster_state.node_up.any():
            return math.inf
        return max(job_state.now, job_state.memory(self, Memory).next_s)

    def divide(self, memory: Memory, cluster_state: ClusterState, job_state: JobState) -> Array:
        """GPUs for every active job."""
        columns, rows, total = job_state.columns, job_state.active, cluster_state.total_gpus
        learnt = memory.learnt if self.beliefs == "learnt" else None
        left = remaining_s(job_state, learnt)
        node_gpus = int(cluster_state.node_gpus.max())
        table = step_table(job_state, learnt, node_gpus, total, self.profiles)
        most = most_replicas(job_state, node_gpus, self.profiles)
        order = np.lexsort((rows, left)) if self.first == "remaining" else None
        if learnt is not None:
            left = left * np.array([learnt.trust(row, self.trust) for row in rows.tolist()])
        gpus, _ = allocate_replicas(table, left, total, most, least=columns.min_gpus[rows], order=order)
        return gpus

    def _pinned(self, rows: Array, where: list[Nodes], cluster_state: ClusterState) -> Schedule:
        shares = {row: nodes for row, nodes in zip(rows.tolist(), where) if nodes}
        runs = np.array([bool(nodes) for nodes in where])
        gpus = np.array([sum(count for _, count in nodes) for nodes in where], dtype=np.int64)
        return Schedule(rows[runs], gpus=gpus[runs], pinned=pins(shares, cluster_state))


@dataclass
class Memory:
    """What Optimus remembers: what it learnt, and where jobs stand, nodes in the order of taking them."""

    learnt: Learnt = field(default_factory=Learnt)
    where: dict[int, Nodes] = field(default_factory=dict)
    servers: dict[int, int] = field(default_factory=dict)
    next_s: float = -math.inf


def _as_they_are(cluster_state: ClusterState, job_state: JobState) -> Schedule:
    """Running jobs keep their GPUs; the others wait."""
    rows, gpus = job_state.active, job_state.held_gpus
    runs = gpus > 0
    return Schedule(rows[runs], gpus=gpus[runs], pinned=Pins(cluster_state.owner.copy(), rows[runs]))


def _where_they_are(rows: Array, memory: Memory, cluster_state: ClusterState) -> list[Nodes]:
    """The nodes of each job: as remembered if that is so, otherwise ascending."""
    held, node_of = cluster_state.allocation.as_dict(), cluster_state.gpu_node.tolist()
    found: list[Nodes] = []
    for row in rows.tolist():
        nodes = [node_of[gpu] for gpu in held.get(row, ())]
        before = memory.where.get(row, ())
        if nodes != node_of_each(before):
            now = Counter(nodes)
            before = before if dict(before) == now else tuple(sorted(now.items()))
        found.append(before)
    return found
