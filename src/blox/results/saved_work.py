"""The work that jobs ended early did not do: a column of jobs.csv and figures of the summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from blox.state.jobs import JobState
from blox.workloads.table import Array


def saved_s(job_state: JobState, duration_s: Array, ended_early: Iterable[int]) -> Array:
    """By job, the seconds of isolated run time that it had left when it was ended early; 0 for others."""
    rows = np.fromiter(ended_early, dtype=np.int64)
    found = np.zeros(job_state.submitted)
    found[rows] = np.maximum(duration_s[rows] - job_state.columns.done0[rows], 0.0)
    return found


def saved_figures(jobs: Mapping[str, Array]) -> dict[str, float]:
    """GPU hours that the jobs of the window were spared, and their share of the work of those that ended."""
    ended = (jobs["in_window"] == 1) & ~np.isnan(jobs["finish_s"])
    saved, work = (float((jobs[name] * jobs["gpus"])[ended].sum()) for name in ("saved_s", "duration_s"))
    return {"saved_gpu_hours": saved / 3600, "saved_share": saved / work if work else 0.0}
