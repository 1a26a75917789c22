"""How sure a distribution is: bounds of the share of jobs that are at most so much, value by value."""

from __future__ import annotations

import numpy as np

from blox.results.bootstrap import resampled_days
from blox.results.samples import DAY_S, Figures, Seeds, runs_of, sample_of
from blox.results.statistics import Interval, bootstrap_interval
from blox.workloads.table import Array


def share_bounds(run: Figures, column: str, at: Array) -> tuple[Array, Array] | None:
    """The 95 % interval of the share of the measured jobs whose `column` is at most each value of `at`.

    By the seeds of the run, or by resampling its days; None where there are too few. Each value has its own
    interval: they do not hold all at once. Jobs without a value do not count.
    """
    sample = sample_of(run)
    if not sample.basis.enough:
        return None
    if isinstance(sample, Seeds):
        each = [_shares(_measured(one, column)[0], at) for one in runs_of(run)]
        found = [sample.around(values) for values in np.array(each).T]
    else:
        values, submit_s = _measured(run, column)
        found = _by_days(values, submit_s, at, sample.basis.days, sample.basis.blocks)
    if any(interval is None for interval in found):
        return None
    low, high = np.array([(each.low, each.high) for each in found if each is not None]).T
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _by_days(values: Array, submit_s: Array, at: Array, days: int, blocks: int) -> list[Interval | None]:
    known = np.isfinite(values)
    day = np.unique((submit_s - submit_s.min()) // DAY_S, return_inverse=True)[1][known]
    values = values[known]
    # By day: how many jobs are at most each value, and how many there are.
    cell = np.searchsorted(at, values, side="left")
    table = np.zeros((days, len(at) + 1))
    np.add.at(table, (day, cell), 1)
    counts = resampled_days(days).astype(np.float64)
    below = counts @ np.cumsum(table, axis=1)
    resampled = below[:, :-1] / np.maximum(below[:, -1:], 1)
    shares = _shares(values, at).tolist()
    return [bootstrap_interval(share, resampled[:, i], blocks) for i, share in enumerate(shares)]


def _shares(values: Array, at: Array) -> Array:
    ascending = np.sort(values[np.isfinite(values)])
    found: Array = np.searchsorted(ascending, at, side="right") / max(len(ascending), 1)
    return found


def _measured(run: Figures, column: str) -> tuple[Array, Array]:
    """The column of the jobs that count, and when each was submitted."""
    counted = np.asarray(run.jobs["in_window"]) == 1
    values, submit_s = (np.asarray(run.jobs[name], dtype=np.float64) for name in (column, "submit_s"))
    return values[counted], submit_s[counted]
