"""The artifact's three schedulers: our policies with what it tells them about jobs, and its Tiresias."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from blox.compat.pollux.ticks import OWN_BATCH, trainings_of
from blox.performance.goodput import GradientNoise, ThroughputModel
from blox.performance.goodput_batch import BatchLimits
from blox.placement.walk.pinned import pins
from blox.schedulers.optimus.allocation import allocate_replicas
from blox.schedulers.optimus.placement import Nodes, place_replicas
from blox.schedulers.optimus.policy import Memory as OptimusMemory
from blox.schedulers.optimus.policy import Optimus
from blox.schedulers.pollux.beliefs import Believed
from blox.schedulers.pollux.policy import Memory, Pollux
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array

MOST = 64  # replicas: no more were measured
DEMOTED_AT_S = 16 * 3600  # GPU-seconds


@dataclass(frozen=True)
class ToldPollux(Pollux):
    """Pollux with the models that jobs have fitted themselves; jobs also set their batch sizes themselves."""

    def look(
        self, rows: Array, held: Array, memory: Memory, cluster_state: ClusterState, job_state: JobState
    ) -> Believed:
        trainings = trainings_of(job_state)
        jobs = [trainings[row] for row in rows.tolist()]
        known = np.array([job.model is not None for job in jobs])
        models = [np.ones(7) if job.model is None else job.model.array() for job in jobs]
        noise = [(1.0, 1.0) if job.noise is None else (job.noise.sqr, job.noise.var) for job in jobs]
        limits = [
            (each.initial, each.largest, each.low, each.high) for each in (job.application for job in jobs)
        ]
        most = [
            1
            if job.application.name in OWN_BATCH
            else min(max(2 * job.largest_seen, 1), MOST, job.application.largest // job.application.low)
            for job in jobs
        ]
        return Believed(
            ThroughputModel.of(np.array(models)),
            GradientNoise(*np.array(noise).T),
            BatchLimits(*np.array(limits).T),
            np.array(most, dtype=np.int64),
            known,
            np.zeros(len(jobs), dtype=bool),
        )

    def least(self, rows: Array, job_state: JobState) -> Array:
        return np.ones(len(rows), dtype=np.int64)


@dataclass(frozen=True)
class ToldOptimus(Optimus):
    """Optimus by replicas, with true step times and the artifact's count of iterations left."""

    def divide(self, memory: OptimusMemory, cluster_state: ClusterState, job_state: JobState) -> Array:
        trainings = trainings_of(job_state)
        jobs = [trainings[row] for row in job_state.active.tolist()]
        total = cluster_state.total_gpus
        most = np.array(
            [
                1
                if job.application.name in OWN_BATCH
                else min((job.target or 0) // job.application.low, MOST, total)
                for job in jobs
            ]
        )
        table = np.zeros((len(jobs), total))
        for i, job in enumerate(jobs):
            table[i, : most[i]] = job.step_times(int(most[i]))
        left = np.array([job.iterations_left() for job in jobs])
        return allocate_replicas(table, left, total, most)[0]


@dataclass
class _Queues:
    queues: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    where: dict[int, Nodes] = field(default_factory=dict)


@dataclass(frozen=True)
class TwoQueues:
    """Tiresias as the artifact has it: two queues, first come first served, demotion at 16 GPU-hours.

    A job that does not fit is passed over, also by jobs of the lower queue. Running jobs keep their nodes.
    """

    demoted_at_s: float = DEMOTED_AT_S

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        rows, memory = job_state.active, job_state.memory(self, _Queues)
        if not len(rows):
            return Schedule(rows)
        self._queue_up(memory, job_state)
        asked, left = job_state.columns.gpus, cluster_state.total_gpus
        line = [row for queue in memory.queues for row in queue]
        runs = []
        for row in line:
            if asked[row] <= left:
                runs.append(row)
                left -= int(asked[row])
        held = job_state.columns.held_gpus
        current = [memory.where.get(row, ()) if held[row] else () for row in runs]
        where: dict[int, Nodes] = {}
        free = cluster_state.node_gpus.copy()
        for nodes in current:
            for node, gpus in nodes:
                free[node] -= gpus
        for row, nodes in zip(runs, current):
            found = nodes or place_replicas([int(asked[row])], [()], free.tolist())[0]
            if not nodes:
                for node, gpus in found:
                    free[node] -= gpus
            where[row] = found
        memory.where = where
        chosen = np.array(runs, dtype=np.int64)
        return Schedule(chosen, gpus=asked[chosen], pinned=pins(where, cluster_state))

    def _queue_up(self, memory: _Queues, job_state: JobState) -> None:
        """Newcomers join the first queue; jobs above the threshold go to the end of the second."""
        active = set(job_state.active.tolist())
        first, second = ([row for row in queue if row in active] for queue in memory.queues)
        known = {*first, *second}
        first += [row for row in job_state.active.tolist() if row not in known]
        served = dict(zip(job_state.active.tolist(), job_state.gpu_seconds().tolist()))
        held = job_state.columns.held_gpus
        demoted = [row for row in sorted(first) if held[row] and served[row] >= self.demoted_at_s]
        memory.queues = ([row for row in first if row not in demoted], second + demoted)
