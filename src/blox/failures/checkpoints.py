"""Checkpoints: how much of its work a job keeps when it loses its GPUs.

A job's work is saved when it is suspended, moved, resized or drained, and while it runs at the end of every
interval of `checkpoint_s` seconds of work and `checkpoint_cost_s` for saving, counted from when its stint
began to work. What is saved by a time is a pure function of that beginning and of the job's anchored
progress, so skipping rounds changes nothing.
"""

from __future__ import annotations

import math

import numpy as np

from blox.performance.overheads import Overheads
from blox.state.jobs import JobState
from blox.workloads.table import Array


class Checkpoints:
    """Knows what running jobs have saved, also those whose rate has changed since they started."""

    def __init__(self, overheads: Overheads) -> None:
        self._overheads = overheads
        # Of each job whose rate has changed in a stint: the stint's start, when it began to work, and the
        # work that was saved by the last change. An entry of an earlier stint is void.
        self._changed: dict[int, tuple[float, float, float]] = {}

    def note(self, rows: Array, at: float, job_state: JobState) -> None:
        """The rates of these running jobs change at `at` (s): call it before their progress is rebased."""
        for row in rows.tolist():
            self._changed[row] = job_state.scalars.held_since[row], *self._saved_one(row, at, job_state)

    def saved_s(self, rows: Array, at: float, job_state: JobState) -> Array:
        """The work of each running job (s) that survives if it loses its GPUs at `at`."""
        return np.array([self._saved_one(row, at, job_state)[1] for row in rows.tolist()])

    def _saved_one(self, row: int, at: float, job_state: JobState) -> tuple[float, float]:
        """When the present stint of a job began to work, and the work (s) that is saved by `at`."""
        one = job_state.scalars
        anchor, done0 = one.anchor[row], one.done0[row]
        start, begin, saved = self._changed.get(row, (math.nan, 0.0, 0.0))
        if start != one.held_since[row]:  # the rate has not changed in this stint
            begin, saved = anchor, done0
        last = self._overheads.last_checkpoint(begin, at)
        return begin, saved if last <= anchor else float(done0 + one.rate[row] * (last - anchor))
