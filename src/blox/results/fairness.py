"""Finish-time fairness of a run that has ended, under any scheduler: rho of every job and every app.

rho (Themis, NSDI'20) is how long a job took from submission to finish, over how long it would have taken
with an equal part of the cluster: its time in isolation x the number of jobs there, averaged over its life.
At most 1: it was not worse off for sharing. An app is the jobs of one `group`; a job without one is an app.
docs/semantics.md works an example out by hand.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace

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
    """rho of each app, by number: the time that it was busy, over what that had been with an equal part.

    It is busy while a job of it has been submitted and has not finished: times between do not count. An equal
    part: the time that it would be busy alone, x the number of busy apps, for each busy period by itself.
    nan where a job of the app has not finished.
    """
    until = np.where(np.isnan(finish_s), end_s, finish_s)
    periods = busy_periods(app, submit_s, until)
    begin, end = (np.array([getattr(each, name) for each in periods]) for name in ("begin_s", "end_s"))
    alone = np.array(
        [alone_s(submit_s[each.jobs], work_s[each.jobs], gpus[each.jobs], total_gpus) for each in periods]
    )
    owner = np.array([each.app for each in periods], dtype=np.int64)
    count = int(app.max(initial=-1)) + 1
    busy = np.bincount(owner, end - begin, minlength=count)
    present = np.where(end > begin, average_present(begin, end), 1.0)
    ideal = np.bincount(owner, alone * present, minlength=count)
    busy[app[np.isnan(finish_s)]] = np.nan
    return _ratio(busy, ideal)


@dataclass(frozen=True)
class BusyPeriod:
    """A time in which an app always has a job that was submitted and has not finished; its jobs, in order."""

    app: int
    begin_s: float
    end_s: float
    jobs: list[int]


def busy_periods(app: Array, submit_s: Array, until_s: Array) -> list[BusyPeriod]:
    """The busy periods of all apps; one goes on with a job that is submitted in the moment of its end."""
    found: list[BusyPeriod] = []
    latest: dict[int, int] = {}  # app -> its latest period
    order = np.argsort(submit_s, kind="stable").tolist()
    apps, begins, ends = app.tolist(), submit_s.tolist(), until_s.tolist()
    for job in order:
        number, begin, end = apps[job], begins[job], ends[job]
        at = latest.get(number, -1)
        if at >= 0 and begin <= found[at].end_s:
            found[at].jobs.append(job)
            found[at] = replace(found[at], end_s=max(found[at].end_s, end))
        else:
            latest[number] = len(found)
            found.append(BusyPeriod(number, begin, end, [job]))
    return found


def alone_s(submit_s: Array, work_s: Array, gpus: Array, total_gpus: int) -> float:
    """How long an app with these jobs, in order of submission, would be busy with the cluster to itself.

    Each job runs from its submission on. While they ask for more GPUs together than there are, each
    gets the same part of what it asks for and goes slower by that.
    """
    busy = now = served = 0.0  # `served`: seconds of work that a job has done which was there all along
    asked, running = 0, list[tuple[float, int]]()  # by `served` at their end, with their GPUs
    arrivals = zip((submit_s - submit_s[0]).tolist(), work_s.tolist(), gpus.tolist())
    for arrival, work, wide in (*arrivals, (math.inf, 0.0, 0)):
        while running:
            slowdown = max(1.0, asked / total_gpus)
            until_end = (running[0][0] - served) * slowdown
            step = min(until_end, arrival - now)
            now, busy, served = now + step, busy + step, served + step / slowdown
            if step < until_end:
                break
            served, ended = heapq.heappop(running)
            asked -= ended
        now = arrival
        heapq.heappush(running, (served + work, wide))
        asked += wide
    return busy


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
