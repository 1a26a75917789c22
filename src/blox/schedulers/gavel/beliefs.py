"""What Gavel thinks of the speeds of jobs: known from a table of throughputs, or known but for noise."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from blox.performance.job_speeds import JobSpeeds, job_speeds
from blox.schedulers.gavel.problem import Pairs
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array


@dataclass(frozen=True)
class Oracle:
    """Throughputs as they stand in a table: the project's own, or the JSON file at `path`."""

    path: str = ""

    def alone(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array]:
        kinds = self.kinds(rows, cluster_state, job_state)
        speed, base = self._known(cluster_state).tables()
        return speed[kinds], base[kinds]

    def pairs(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Pairs:
        known = self._known(cluster_state)
        kinds, kind = np.unique(self.kinds(rows, cluster_state, job_state), return_inverse=True)
        beside = [[known.beside(a, b) for b in kinds.tolist()] for a in kinds.tolist()]
        shape = (len(kinds), len(kinds), len(cluster_state.gpu_types))
        return Pairs(kind, np.array(beside).reshape(shape))

    def kinds(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The number of each job's kind."""
        columns = job_state.columns
        return self._known(cluster_state).kinds(
            columns.model[rows].tolist(), columns.batch_size[rows].tolist(), columns.gpus[rows].tolist()
        )

    def _known(self, cluster_state: ClusterState) -> JobSpeeds:
        return job_speeds(self.path, cluster_state.gpu_types, cluster_state.spec.speeds)


@dataclass(frozen=True)
class Noisy:
    """Throughputs of a table times log-normal factors, each job's and type's own, drawn from the seed.

    With `sigma` 0.2 one figure in three is wrong by more than a fifth or so. Speeds beside another job are
    wrong by the same factors.
    """

    path: str = ""
    sigma: float = 0.2

    def alone(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array]:
        speed, base = Oracle(self.path).alone(rows, cluster_state, job_state)
        return speed * self._factors(rows, cluster_state, job_state), base

    def pairs(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Pairs:
        known = Oracle(self.path).pairs(rows, cluster_state, job_state)
        factors = self._factors(rows, cluster_state, job_state)
        beside = known.throughput[np.ix_(known.kind, known.kind)] * factors[:, None, :]
        return Pairs(np.arange(len(rows)), beside)

    def _factors(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The same for a job whenever it is asked for (jobs x types)."""
        types = len(cluster_state.gpu_types)
        found = np.empty((len(rows), types))
        for place, row in enumerate(rows.tolist()):
            seeds = np.random.SeedSequence(job_state.seed, spawn_key=(zlib.crc32(b"gavel belief"), row))
            found[place] = np.random.default_rng(seeds).lognormal(0.0, self.sigma, types)
        return found
