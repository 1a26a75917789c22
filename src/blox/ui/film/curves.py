"""Figures that build up while a run goes on: curves over time, each of a few hundred points."""

from __future__ import annotations

import numpy as np

from blox.report import series
from blox.results.result import Result
from blox.workloads.table import Array

_POINTS = 600


def curves_of(result: Result) -> dict[str, Array]:
    """Arrays `<curve>_time`, `<curve>`, and `<curve>_low`, `<curve>_high` where each point is a mean."""
    drawn = {
        "utilisation": series.utilisation(result, _POINTS),
        "waiting": series.queue(result, _POINTS),
        "jct": _average_jct(result),
    }
    found: dict[str, Array] = {}
    for name, level in drawn.items():
        parts = {"_time": level.time, "": level.value, "_low": level.low, "_high": level.high}
        for ending, values in parts.items():
            if values is not None:
                found[f"curve_{name}{ending}"] = np.asarray(values, dtype=np.float64)
    return found


def _average_jct(result: Result) -> series.Level:
    """The mean completion time (s) of the jobs that have finished by each time."""
    finish, jct = result.jobs["finish_s"], result.jobs["jct_s"]
    done = np.flatnonzero(~np.isnan(finish))
    done = done[np.argsort(finish[done], kind="stable")]
    mean = np.cumsum(jct[done]) / np.arange(1, len(done) + 1)
    return series.level(finish[done], mean, series.end_of(result), _POINTS)
