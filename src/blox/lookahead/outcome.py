"""What a look ahead gives: a Result over the jobs that were present, with the figures of a summary.

Figures of jobs are over their whole lives: JCT and responsiveness count from submission, interruptions from
the first start. Makespan, utilisation and causes of waiting count from the beginning of the look ahead. A job
that has not finished at the horizon counts as if it ran by itself from there on, for as long as it has work.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from blox.lookahead.ahead import Ahead
from blox.results import metrics
from blox.results.arrivals import WHOLE_RUN, Span, occupancy
from blox.results.lazy_table import LazyTable
from blox.results.outcomes import outcome_columns
from blox.results.result import Result
from blox.state import progress
from blox.state.columns import FINISHED


def outcome(ahead: Ahead, *, round_s: float, label: str = "ahead") -> Result:
    """The result of a look ahead."""
    if ahead.truncated:
        _finish_alone(ahead)
    job_state, end_s, recorder = ahead.job_state, ahead.end_s, ahead.manager.recorder
    recorder.close(end_s)
    rounds = recorder.rounds()
    jobs = metrics.job_columns(job_state, end_s=end_s, window=None, apps="job")
    jobs.update(outcome_columns(job_state, jobs, ahead.work_s, recorder.end_reasons, end_s=end_s))
    jobs = {name: values[ahead.rows] for name, values in jobs.items()}
    gpus = ahead.cluster_state.spec.total_gpus
    summary = metrics.summarise(jobs, rounds, recorder, end_s=end_s, total_gpus=gpus, round_s=round_s)
    filled = occupancy(Span(ahead.begin_s, end_s), rounds, recorder, gpus)
    summary.update(filled)
    summary.update({f"{name}{WHOLE_RUN}": value for name, value in filled.items()})
    summary["makespan_s"] = float(np.nanmax(jobs["finish_s"], initial=end_s)) - ahead.begin_s
    return Result(label, {}, summary, jobs, rounds, LazyTable(partial(recorder.stints, end_s)))


def _finish_alone(ahead: Ahead) -> None:
    """Jobs that have not finished go on by themselves, each at the speed that its duration implies."""
    job_state, end_s = ahead.job_state, ahead.end_s
    c = job_state.columns
    rows = ahead.rows[c.status[ahead.rows] != FINISHED]
    finish_s = end_s + np.maximum(ahead.work_s[rows] - progress.done_s(job_state, rows, end_s), 0.0)
    job_state.now = end_s
    waiting = rows[c.held_gpus[rows] == 0]
    progress.begin(job_state, waiting, c.gpus[waiting], 1.0, end_s)
    progress.bank(job_state, rows, finish_s)
    c.finish_s[rows] = finish_s
    c.status[rows] = FINISHED
