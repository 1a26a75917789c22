"""The work of jobs that are credited with whole rounds, as the original Blox counts it."""

from __future__ import annotations

import numpy as np

from blox.workloads.table import Array, JobTable


def whole_round_work_s(jobs: JobTable, round_s: float, factor: float) -> Array:
    """Seconds of run time until the sum of whole-round credits reaches a job's iterations.

    The original adds `round_s / iteration_time * factor` once per round in floating point; so does this,
    so that the last bit falls the same way.
    """
    duration = jobs.columns["duration_s"]
    iterations, iteration_s = jobs.column("iterations"), jobs.column("iteration_s")
    unknown = np.isnan(iterations) | np.isnan(iteration_s)
    total = np.where(unknown, duration, iterations)
    step = round_s / np.where(unknown, 1.0, iteration_s) * factor
    rounds = np.empty(len(duration))
    for credit in np.unique(step):
        here = step == credit
        most = int(np.ceil(total[here].max() / credit)) + 2
        credits = np.add.accumulate(np.full(most, credit))
        rounds[here] = np.searchsorted(credits, total[here], side="left") + 1
    return rounds * round_s
