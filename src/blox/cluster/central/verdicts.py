"""Verdicts: the termination policy of a cluster. Ends jobs that were cancelled or failed too often, and those
that the policy which its operator has named ends."""

from __future__ import annotations

import numpy as np

from blox.cluster.central.jobs import Jobs
from blox.manager import end_reasons
from blox.protocols import TerminationPolicy
from blox.state.cluster import ClusterState
from blox.state.columns import ADMITTED, FINISHED
from blox.state.jobs import JobState
from blox.termination.completed import Completed
from blox.workloads.table import Array


class Verdicts:
    """Jobs with a verdict end in the next round. One that was never admitted is withdrawn from the queue.

    `policy`: ends jobs besides, by what they push (`loss`).
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.policy: TerminationPolicy = Completed()

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        rows = [job.row for job in self._jobs.condemned.values() if job.row >= 0]
        status = job_state.columns.status
        condemned = np.array([row for row in rows if status[row] == ADMITTED], dtype=np.int64)
        return np.union1d(condemned, self.policy.terminate(job_state, cluster_state))

    def reason(self, rows: Array, job_state: JobState) -> list[str]:
        told = end_reasons(self.policy, rows, job_state)
        return [self._jobs.by_row[row].verdict or why for row, why in zip(rows.tolist(), told)]

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
