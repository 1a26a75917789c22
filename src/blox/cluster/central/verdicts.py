"""Verdicts: the termination policy of a cluster. Ends jobs that were cancelled or failed too often."""

from __future__ import annotations

import numpy as np

from blox.cluster.central.jobs import Jobs
from blox.state.cluster import ClusterState
from blox.state.columns import ADMITTED, FINISHED
from blox.state.jobs import JobState
from blox.workloads.table import Array


class Verdicts:
    """Jobs with a verdict end in the next round. One that was never admitted is withdrawn from the queue."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        rows = [job.row for job in self._jobs.condemned.values() if job.row >= 0]
        status = job_state.columns.status
        return np.array(sorted(row for row in rows if status[row] == ADMITTED), dtype=np.int64)

    def reason(self, rows: Array, job_state: JobState) -> list[str]:
        return [self._jobs.by_row[row].verdict for row in rows.tolist()]

    def withdraw(self, job_state: JobState) -> list[int]:
        """Takes jobs out of the wait queue; returns their rows."""
        if not self._jobs.condemned:
            return []
        waiting = set(job_state.waiting.tolist())
        rows = sorted(job.row for job in self._jobs.condemned.values() if job.row in waiting)
        if rows:
            job_state.waiting = np.setdiff1d(job_state.waiting, rows)
            job_state.columns.status[rows] = FINISHED
            job_state.columns.finish_s[rows] = job_state.now
        return rows
