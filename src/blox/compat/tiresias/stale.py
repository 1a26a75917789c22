from __future__ import annotations

import math
from dataclasses import dataclass, field

from blox.cluster_state import ClusterState
from blox.job_state import JobState
from blox.plan import NO_ROWS
from blox.workloads.table import Array


@dataclass
class _Noted:
    """Jobs noted beside a submission as ending then too; how many had finished when asked last."""

    at: float = math.nan
    rows: Array = field(default_factory=lambda: NO_ROWS)
    finished: int = 0


@dataclass(frozen=True)
class StaleCompletion:
    """Ends jobs that were due to end together with a submission, though they have been preempted since.

    The original notes such jobs in the record of the submission. When it wakes before, for a reason of its
    own, and preempts them, the note stays, and they count as completed with work left. It is rewritten
    if the next submission and the next completion coincide again.
    """

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        noted = job_state.memory(self, _Noted)
        now, columns = job_state.now, job_state.columns
        finished = job_state.submitted - len(job_state.active) - len(job_state.waiting)
        completed, noted.finished = finished > noted.finished, finished
        coming = job_state.submitted < len(columns.submit_s)
        submission = columns.submit_s.item(job_state.submitted) if coming else math.inf
        if submission == now:
            rows, due = noted.rows, noted.at == now
            noted.rows, noted.at = NO_ROWS, math.nan
            if completed or not due:  # the note was rewritten, or there was none
                return NO_ROWS
            noted.finished += len(rows)
            return rows
        running = cluster_state.allocation.jobs
        if completed or not len(running):
            return NO_ROWS
        ends: Array = columns.expected_s.take(running)
        ends -= columns.done0.take(running)
        ends += columns.anchor.take(running)
        if ends.item(ends.argmin()) == submission:
            noted.at, noted.rows = submission, running[ends == submission]
        return NO_ROWS

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        return math.inf
