"""How each job fared against what was known of it: columns of jobs.csv beside the times in `metrics.py`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from blox.state.jobs import JobState
from blox.workloads.extra import texts
from blox.workloads.table import Array

ENDED_EARLY = "ended early"  # the state of a job that a termination policy has ended


def outcome_columns(
    job_state: JobState,
    jobs: Mapping[str, Array],
    duration_s: Array,
    reasons: Mapping[int, str],
    *,
    end_s: float,
) -> dict[str, Array]:
    """The columns that follow from those in `jobs`; `reasons` says why jobs were ended early, by row.

    `waited_s` is all time not on GPUs, from submission to finish or to the end of the run (s). `slowdown` is
    `jct_s` over `duration_s`; nan for jobs that have not finished their work.
    """
    count = job_state.submitted
    columns, state = job_state.columns, jobs["state"].copy()
    early = np.fromiter(reasons, dtype=np.int64, count=len(reasons))
    state[early] = ENDED_EARLY
    reason = np.full(count, "", dtype=object)
    reason[early] = texts(list(reasons.values()))
    until_s = np.where(np.isnan(jobs["finish_s"]), end_s, jobs["finish_s"])
    duration_s = duration_s[:count]
    slowdown = jobs["jct_s"] / duration_s
    slowdown[early] = np.nan
    return {
        "state": state,
        "job_type": columns.job_type[:count],
        "group": columns.group[:count],
        "priority": columns.priority[:count],
        "deadline_s": columns.deadline_s[:count],
        "duration_s": duration_s,
        "slowdown": slowdown,
        "waited_s": until_s - jobs["submit_s"] - jobs["run_s"],
        "end_reason": reason,
    }
