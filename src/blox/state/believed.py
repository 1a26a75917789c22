"""Durations for policies that need a number for every job, also where nothing is believed of one.

On a cluster a job may come without an expected duration: `expected_s` is then nan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.jobs import JobState

UNKNOWN_S = 7 * 86400.0  # a job of which nothing is believed is taken to last so long


def believed_s(job_state: JobState, rows: Array) -> Array:
    """Believed isolated run times (s); a week where nothing is believed."""
    expected = job_state.columns.expected_s.take(rows)
    unknown = np.isnan(expected)
    return np.where(unknown, UNKNOWN_S, expected) if unknown.any() else expected


def believed_left_s(job_state: JobState) -> Array:
    """Of every active job, the believed isolated run time still to go, never below 0."""
    left: Array = np.maximum(0.0, believed_s(job_state, job_state.active) - job_state.done_s())
    return left
