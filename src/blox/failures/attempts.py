"""Attempts: ends a run in which a job fails again and again before it has saved any work."""

from __future__ import annotations

from blox.errors import BloxError
from blox.state.jobs import JobState
from blox.workloads.table import Array

MOST_IN_VAIN = 1000  # losses in a row that bring a job back to where it was: it is not going to finish


class Attempts:
    """Counts, by job, the losses since it last came to a checkpoint with more work than before."""

    def __init__(self) -> None:
        self._in_vain: dict[int, tuple[float, int]] = {}  # row -> work saved (s), losses since

    def lost(self, rows: Array, saved_s: Array, job_state: JobState) -> None:
        """Jobs have lost their GPUs, and go on from this work. Raises BloxError for one that gets nowhere."""
        for row, saved in zip(rows.tolist(), saved_s.tolist()):
            before, count = self._in_vain.get(row, (saved, 0))
            count = 1 if saved > before else count + 1
            self._in_vain[row] = saved, count
            if count > MOST_IN_VAIN:
                job_id = job_state.columns.job_id[row]
                raise BloxError(
                    f"job {job_id!r} has lost its GPUs {count:,} times in a row before it saved any work: it "
                    "is not going to finish",
                    where=f"at {job_state.now:.12g} s",
                    fix="let jobs save their work (--overheads checkpoint=30m), or let less fail",
                )
