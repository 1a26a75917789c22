"""Stops a run whose jobs hold GPUs and get nowhere, instead of letting it go on for ever.

That happens where a job is stopped again before it has started: its overheads are longer than the rounds
that it is given. A run in which no job holds a GPU is stopped by the manager.
"""

from __future__ import annotations

from blox.errors import BloxError
from blox.manager import BloxManager
from blox.state.jobs import JobState

ROUNDS = 20_000  # without any progress, before a run is stopped


class StandstillWatch:
    """Called after every round; looks at the jobs once in a great many."""

    def __init__(self, rounds: int = ROUNDS) -> None:
        self._every, self._left = rounds, rounds
        self._seen: tuple[float, ...] | None = None

    def __call__(self, manager: BloxManager, job_state: JobState) -> None:
        """Raises BloxError where not one job has come, gone or made progress since it looked last."""
        self._left -= 1
        if self._left:
            return
        self._left = self._every
        state = (job_state.submitted, job_state.active_count, float(job_state.done_s().sum()))
        if state == self._seen and job_state.active_count and not manager.terminate:
            raise BloxError(
                f"in {self._every:,} rounds none of {job_state.active_count:,} jobs has made any progress",
                where=f"at {job_state.now:.12g} s",
                fix="jobs are stopped before they have started: give longer rounds or shorter overheads, "
                "or a scheduler that preempts less",
            )
        self._seen = state
