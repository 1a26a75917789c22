"""JobFailures: when running jobs fail by themselves, by the GPU time that each has received.

The k-th failure of a job comes when its GPU time reaches the sum of the first k draws of its own random
stream, whenever and wherever it runs: the same for every scheduler. The time of the next failure follows from
that sum and the columns of JobState; the next draw is added when the job has failed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from blox.failures.streams import stream
from blox.failures.timeline import FailureSource
from blox.optional import declared
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array


def job_failures(sources: Sequence[FailureSource], seed: int) -> JobFailures | None:
    """The failures of jobs that sources name (`job_mtbf`); None: jobs do not fail by themselves."""
    per_gpu_s = sum(1.0 / declared(source, "job_mtbf") for source in sources)
    return JobFailures(1.0 / per_gpu_s, seed) if per_gpu_s else None


class JobFailures:
    """`mtbf_s`: the mean GPU time (GPU-seconds) that a job receives before it fails; exponential."""

    def __init__(self, mtbf_s: float, seed: int) -> None:
        self._mtbf_s, self._seed = mtbf_s, seed
        # By row: the GPU time at which the job fails next; nan: not drawn yet.
        self._limit: Array = np.empty(0)
        self._drawn: dict[int, int] = {}  # by row: draws so far

    def next_s(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """When the next running job fails if it goes on; inf: none does."""
        return float(self._times(cluster_state.allocation.jobs, job_state).min(initial=math.inf))

    def due(self, cluster_state: ClusterState, job_state: JobState) -> list[tuple[float, int]]:
        """(time, row) of the running jobs that fail by now, in order of time. Each is returned once."""
        running = cluster_state.allocation.jobs
        times = self._times(running, job_state)
        failed = (times <= job_state.now).nonzero()[0]
        found = sorted(zip(times[failed].tolist(), running[failed].tolist()))
        for _, row in found:
            self._limit[row] += self._draw(row)
        return found

    def _times(self, rows: Array, job_state: JobState) -> Array:
        """When each of these running jobs fails."""
        columns = job_state.columns
        if len(self._limit) < len(columns.gpus):
            grown = np.full(len(columns.gpus), math.nan)
            grown[: len(self._limit)] = self._limit
            self._limit = grown
        for row in rows[np.isnan(self._limit.take(rows))].tolist():
            self._limit[row] = self._draw(row)
        return progress.received_at(job_state, rows, self._limit.take(rows))

    def _draw(self, row: int) -> float:
        """The GPU time from a failure of a job, or its start, to the next."""
        count = self._drawn[row] = self._drawn.get(row, 0) + 1
        draws = stream(self._seed, "job failures", row).exponential(self._mtbf_s, count)
        return float(draws[-1])
