"""Finish-time fairness of a run that has ended, whoever scheduled it: rho of every job and every app.

rho (Themis, NSDI'20) is how long a job took from submission to finish, over how long it would have taken
with an equal part of the cluster: its time in isolation x the number of jobs there, averaged over its life.
At most 1: it was not worse off for sharing. An app is the jobs of one `group`; a job without one is an app.
"""

from __future__ import annotations

import numpy as np

from blox.workloads.table import Array


def job_rho(submit_s: Array, finish_s: Array, work_s: Array, end_s: float) -> Array:
    """rho of each job; nan where it has not finished. `work_s`: its run time in isolation."""
    until = np.where(np.isnan(finish_s), end_s, finish_s)
    ideal = work_s * average_present(submit_s, until)
    return _ratio(finish_s - submit_s, ideal)


def app_rho(
    app: Array, submit_s: Array, finish_s: Array, work_s: Array, gpus: Array, total_gpus: int, end_s: float
) -> Array:
    """rho of each app, by number; nan where a job of it has not finished.

    It ends with its last job. In isolation all its work would be spread over as many GPUs as its jobs ask
    for together, at most the whole cluster.
    """
    count = int(app.max(initial=-1)) + 1
    begin, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(begin, app, submit_s)
    np.maximum.at(last, app, np.where(np.isnan(finish_s), np.inf, finish_s))
    last[np.isinf(last)] = np.nan  # somebody has not finished
    work = np.bincount(app, work_s * gpus, minlength=count)
    usable = np.minimum(np.bincount(app, gpus, minlength=count), total_gpus)
    until = np.where(np.isnan(last), end_s, last)
    return _ratio(last - begin, work / np.maximum(usable, 1) * average_present(begin, until))


def apps_of(group: Array) -> Array:
    """The number of each job's app, counted from 0 in the order in which they come."""
    names = group.tolist()
    if not any(name != "" for name in names):
        return np.arange(len(names))
    seen: dict[object, int] = {}
    keys = [("", row) if name == "" else name for row, name in enumerate(names)]
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


def average_present(begin_s: Array, end_s: Array) -> Array:
    """How many were there on average while each one was: it and the others between begin and end."""
    if not len(begin_s):
        return np.empty(0)  # a run that was stopped before its first submission
    time_s = np.concatenate((begin_s, end_s))
    order = np.argsort(time_s, kind="stable")
    time_s = time_s[order]
    step = np.where(order < len(begin_s), 1, -1)
    present = np.cumsum(step)
    area = np.concatenate(([0.0], np.cumsum(present[:-1] * np.diff(time_s))))
    between = np.interp(end_s, time_s, area) - np.interp(begin_s, time_s, area)
    life = end_s - begin_s
    return np.where(life > 0, between / np.where(life > 0, life, 1.0), np.nan)


def jain_index(values: Array) -> float | None:
    """Jain's index of fairness: 1 where all are alike, 1/n where one has everything; None without values."""
    squares = float((values * values).sum())
    return float(values.sum()) ** 2 / (len(values) * squares) if squares > 0 else None


def _ratio(value: Array, of: Array) -> Array:
    return np.where(of > 0, value / np.where(of > 0, of, 1.0), np.nan)
