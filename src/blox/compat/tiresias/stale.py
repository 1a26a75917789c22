from __future__ import annotations

import math
from dataclasses import dataclass, field

from blox.cluster_state import ClusterState
from blox.job_state import JobState
from blox.plan import NO_ROWS
from blox.protocols import for_ever
from blox.workloads.table import Array


@dataclass
class _Noted:
    """Jobs noted beside a submission as ending then too."""

    at: float = math.nan
    rows: Array = field(default_factory=lambda: NO_ROWS)


@dataclass(frozen=True)
class StaleCompletion:
    """Ends jobs that were due to end together with a submission, though they have been preempted since.

    The original notes such jobs in the record of the submission. When it wakes before, for a reason of its
    own, and preempts them, the note stays, and they count as completed with work left. It is rewritten
    if the next submission and the next completion coincide again.
    """

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        submitted, submit_s = job_state.submitted, job_state.columns.submit_s
        submission = submit_s.item(submitted) if submitted < len(submit_s) else math.inf
        completed = len(job_state.just_finished)
        if submission == job_state.now:
            noted = job_state.memory(self, _Noted)
            rows, due = noted.rows, noted.at == submission
            noted.rows, noted.at = NO_ROWS, math.nan
            return NO_ROWS if completed or not due else rows  # the note was rewritten, or there was none
        running = NO_ROWS if completed else cluster_state.allocation.jobs
        if not len(running):
            return NO_ROWS
        columns = job_state.columns
        ends: Array = columns.expected_s.take(running)
        ends -= columns.done0.take(running)
        ends += columns.anchor.take(running)
        if ends.item(ends.argmin()) == submission:
            noted = job_state.memory(self, _Noted)
            noted.at, noted.rows = submission, running[ends == submission]
        return NO_ROWS

    stable_until = for_ever
