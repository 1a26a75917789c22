"""How close a simulated run comes to what really happened, job by job: in all, by size, tenant and time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.results.bootstrap import block_days, resampled_means
from blox.results.groups import groups_of
from blox.results.samples import DAY_S, Figures, runs_of
from blox.results.statistics import Interval, bootstrap_interval
from blox.workloads.table import Array

MOST_GROUPS = 8
READ = ("job_id", "submit_s", "gpus", "tenant", "duration_s", "waited_s", "in_window")  # columns of jobs
NEAR_S, NEAR_PART = 600.0, 0.1  # a wait is told nearly right within so many seconds, or such a part of it


@dataclass(frozen=True)
class Closeness:
    """What a group of jobs waited really and in simulation; waiting is all time without GPUs.

    `change` is the mean of simulated less real, with its 95 % interval by resampling the days on which jobs
    were submitted, or without bounds (nan) where these are too few. `near` is the share of jobs whose wait is
    told to within 10 min or a tenth.
    """

    by: str  # all, size, tenant or time
    group: str
    jobs: int
    real_s: float
    simulated_s: float
    real_p95_s: float
    simulated_p95_s: float
    near: float
    change: Interval

    @property
    def off(self) -> bool:
        """Whether the simulation surely differs, by more than a wait that is told nearly right."""
        far = abs(self.change.estimate) > max(NEAR_S, NEAR_PART * self.real_s)
        return far and self.change.excludes_zero


def calibration(simulated: Figures, happened: Figures) -> list[Closeness]:
    """The groups of jobs of a simulated run beside those of its log: all jobs first.

    Of a run over several seeds, a job's wait is the mean over them.
    """
    real = happened.jobs
    rows = np.flatnonzero(np.asarray(real["in_window"]) == 1)
    waits = _same_jobs(simulated, real)
    submit_s = np.asarray(real["submit_s"], dtype=np.float64)
    day = ((submit_s - submit_s[rows].min(initial=math.inf)) // DAY_S).astype(np.int64)
    pair = _Pair(np.asarray(real["waited_s"], dtype=np.float64), waits, day)
    return [pair.closeness(by, name, members) for by, name, members in _groups(real, rows, day)]


def _same_jobs(simulated: Figures, real: Mapping[str, Array]) -> Array:
    """The wait of each job of the log in simulation."""
    names = np.asarray(real["job_id"])
    waits = []
    for run in runs_of(simulated):
        if not np.array_equal(np.asarray(run.jobs["job_id"]), names):
            raise BloxError(
                "the simulated run is not over the jobs of the log",
                where="--calibrate",
                fix="give the log itself as workload, and no other window or number of jobs",
            )
        waits.append(np.asarray(run.jobs["waited_s"], dtype=np.float64))
    found: Array = np.mean(waits, axis=0)
    return found


@dataclass(frozen=True)
class _Pair:
    real: Array
    simulated: Array
    day: Array

    def closeness(self, by: str, group: str, rows: Array) -> Closeness:
        real, simulated = self.real[rows], self.simulated[rows]
        off = simulated - real
        near = np.abs(off) <= np.maximum(NEAR_S, NEAR_PART * real)
        return Closeness(
            by,
            group,
            len(rows),
            real_s=float(real.mean()),
            simulated_s=float(simulated.mean()),
            real_p95_s=float(np.percentile(real, 95)),
            simulated_p95_s=float(np.percentile(simulated, 95)),
            near=float(near.mean()),
            change=self._change(off, rows),
        )

    def _change(self, off: Array, rows: Array) -> Interval:
        day = np.unique(self.day[rows], return_inverse=True)[1]
        days, estimate = int(day.max(initial=-1)) + 1, float(off.mean())
        resampled = resampled_means(off, day, days)
        found = bootstrap_interval(estimate, resampled, days // block_days(days))
        return found or Interval(estimate, math.nan, math.nan)


def _groups(jobs: Mapping[str, Array], rows: Array, day: Array) -> Iterator[tuple[str, str, Array]]:
    """The kinds of groups, each from its first to its last; a kind with one group only is left out."""
    yield "all", "all jobs", rows
    gpus, tenant, run_s = (np.asarray(jobs[name]) for name in ("gpus", "tenant", "duration_s"))
    for by, values in (("size", gpus), ("tenant", tenant), ("time", _period(day, rows))):
        groups = groups_of(values, rows, most=MOST_GROUPS, weight=gpus * run_s)
        for group in groups if len(groups) > 1 else ():
            name = str(group.value)
            if by == "size":
                name = f"{name} GPU" if name == "1" else f"{name} GPUs"
            elif by == "time":
                name = _days_told(day, rows, int(name))
            yield by, name, group.rows


def _days_in_period(day: Array, rows: Array) -> int:
    return max(math.ceil((int(day[rows].max()) + 1) / MOST_GROUPS), 1)


def _period(day: Array, rows: Array) -> Array:
    """The number of each job's period: days, or as many days together as leave few periods."""
    found: Array = day // _days_in_period(day, rows)
    return found


def _days_told(day: Array, rows: Array, number: int) -> str:
    length, last = _days_in_period(day, rows), int(day[rows].max()) + 1
    begin = number * length + 1
    end = min(begin + length - 1, last)
    return f"day {begin}" if begin == end else f"days {begin} to {end}"
