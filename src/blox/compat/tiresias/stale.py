from __future__ import annotations

import math
from dataclasses import dataclass, field

from blox.protocols import for_ever
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.workloads.table import Array


@dataclass
class _Noted:
    """Jobs noted beside a submission as ending then too, and when each started job would end."""

    at: float = math.nan
    rows: Array = field(default_factory=lambda: NO_ROWS)
    ends: set[float] = field(default_factory=set)
    read: int = 0  # position in job_state.starts

    def learn(self, job_state: JobState, cluster_state: ClusterState) -> None:
        """Takes in the jobs that have started since the last time."""
        one, starts = job_state.scalars, job_state.starts.since(self.read)
        for rows in (cluster_state.running,) if starts is None else starts:
            for row in rows.tolist():
                self.ends.add(one.expected_s[row] - one.done0[row] + one.anchor[row])
        self.read = job_state.starts.end


@dataclass(frozen=True)
class StaleCompletion:
    """Ends jobs that were due to end together with a submission, though they have been preempted since.

    The original notes such jobs in the record of the submission. When it wakes before, for a reason of its
    own, and preempts them, the note stays, and they count as completed with work left. It is rewritten
    if the next submission and the next completion coincide again.
    """

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        submitted, submit_s = job_state.submitted, job_state.scalars.submit_s
        submission = submit_s[submitted] if submitted < len(submit_s) else math.inf
        completed = len(job_state.just_finished)
        noted = job_state.memory(self, _Noted)
        if submission == job_state.now:
            rows, due = noted.rows, noted.at == submission
            noted.rows, noted.at = NO_ROWS, math.nan
            return NO_ROWS if completed or not due else rows  # the note was rewritten, or there was none
        if noted.read < job_state.starts.end:
            noted.learn(job_state, cluster_state)
        if submission in noted.ends and not completed:
            self._note(noted, submission, cluster_state.running, job_state)
        return NO_ROWS

    def _note(self, noted: _Noted, submission: float, running: Array, job_state: JobState) -> None:
        """Notes the jobs that end together with the submission, if no job ends before."""
        columns = job_state.columns
        ends: Array = columns.expected_s.take(running) - columns.done0.take(running)
        ends += columns.anchor.take(running)
        if ends.min(initial=math.inf) == submission:
            noted.at, noted.rows = submission, running[ends == submission]

    stable_until = for_ever
