"""Distributions over jobs: how two of them compare, and how one is drawn."""

from __future__ import annotations

import numpy as np

from blox.report.charts import Line
from blox.reproduce.page import Done
from blox.workloads.table import Array

_POINTS = 400  # of a drawn distribution: more cannot be told apart


def jcts_s(done: Done) -> Array:
    """The completion times of the measured jobs that finished (s)."""
    jobs = done.whole().jobs
    times = jobs["jct_s"][jobs["in_window"] == 1]
    return np.asarray(times[~np.isnan(times)])


def compare(original: Array, ours: Array) -> tuple[float, float]:
    """(how far our average is off, as a share; the largest distance of the two distributions)."""
    every = np.concatenate((original, ours))
    shares = [np.searchsorted(np.sort(times), every, side="right") / len(times) for times in (original, ours)]
    return float(ours.mean() / original.mean() - 1), float(np.abs(shares[0] - shares[1]).max())


def cdf(name: str, times: Array, like: str = "") -> Line:
    """The share of values up to each value, as a line in steps."""
    ordered = np.sort(times)
    share = np.arange(1, len(ordered) + 1) / len(ordered)
    at = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _POINTS)).round().astype(np.int64))
    return Line(name, tuple(ordered[at].round(6).tolist()), tuple(share[at].round(6).tolist()), like)
