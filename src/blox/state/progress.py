"""Progress: the work and the GPU time of jobs. The only code that writes the columns that hold them.

A job's work is anchored: `done(t) = done0 + rate * max(0, t - anchor)`, in seconds of isolated run time. Its
GPU time is anchored likewise at `held_since`, the start of its present stint. Nothing is accumulated per
round, so a skipped round and an executed one leave the same bits behind.

`begin` starts a stint, `bank` ends it, `rebase` comes before a change of rate, `report` takes what a job has
measured itself, and `restore` what was saved. The other functions read. Up to SCALAR_MAX jobs are handled as
plain numbers, which is several times faster than short arrays; both forms do the same floating-point
operations in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from blox.state.columns import SCALAR_MAX, alike
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.jobs import JobState


def admit(job_state: JobState, at: Array | int) -> None:
    """Starts the wait of jobs for their first stint, now."""
    job_state.columns.held_since[at] = job_state.now


def begin(job_state: JobState, rows: Array, gpus: Array, rate: Array | float, anchor: Array | float) -> None:
    """Begins a stint of jobs: GPU time counts from now on, work from `anchor` on at `rate`."""
    now = job_state.now
    if len(rows) <= SCALAR_MAX:
        one = job_state.scalars
        for row, held, speed, start in zip(rows.tolist(), gpus.tolist(), each(rate), each(anchor)):
            one.rate[row] = speed
            one.anchor[row] = start
            one.held_gpus[row] = one.gpu_rate[row] = held
            if held != one.gpus[row]:
                job_state.resized = True
            one.held_since[row] = now
            if one.first_start_s[row] != one.first_start_s[row]:  # nan: it has never run
                one.first_start_s[row] = now
        return
    c = job_state.columns
    c.rate[rows] = rate
    c.anchor[rows] = anchor
    c.held_gpus[rows] = c.gpu_rate[rows] = gpus
    if not job_state.resized:
        job_state.resized = not alike(gpus, c.gpus[rows])
    c.held_since[rows] = now
    c.first_start_s[rows] = np.fmin(c.first_start_s[rows], now)  # fmin ignores nan


def bank(job_state: JobState, rows: Array, end: Array | float) -> None:
    """Ends the stint of jobs at `end` (s): stores their work and GPU time until then."""
    if len(rows) <= SCALAR_MAX:
        one = job_state.scalars
        for row, until in zip(rows.tolist(), each(end)):
            ran, worked = until - one.held_since[row], until - one.anchor[row]
            one.run0[row] += ran
            one.held0[row] += ran * one.held_gpus[row]
            if worked > 0:
                one.done0[row] += one.rate[row] * worked
            one.held_gpus[row] = 0
            one.rate[row] = one.gpu_rate[row] = 0.0
            one.held_since[row] = until
        return
    c = job_state.columns
    ran = end - c.held_since[rows]
    c.run0[rows] += ran
    c.held0[rows] += ran * c.held_gpus[rows]
    c.done0[rows] = done_s(job_state, rows, end)
    c.held_gpus[rows] = 0
    c.rate[rows] = c.gpu_rate[rows] = 0.0
    c.held_since[rows] = end


def rebase(job_state: JobState, rows: Array, at: float | None = None) -> Array:
    """Anchors jobs anew at `at` (s; by default now), or at the end of their launch; returns that time (s).

    Stores the work until then in `done0`. The rate stays; set the new rate with `set_rate`.
    """
    c, from_s = job_state.columns, job_state.now if at is None else at
    c.done0[rows] = done_s(job_state, rows, from_s)
    start: Array = np.maximum(c.anchor[rows], from_s)
    c.anchor[rows] = start
    return start


def set_rate(job_state: JobState, rows: Array | int, rate: Array | float) -> None:
    """Sets the rate (isolated seconds per second) of jobs that were rebased."""
    job_state.columns.rate[rows] = rate


def report(job_state: JobState, rows: Array | int, done: Array | float, at: float) -> None:
    """Sets the work of jobs at the time `at` to `done` (s), whatever was expected. The rate stays."""
    c = job_state.columns
    c.done0[rows] = done
    c.anchor[rows] = at


def restore(job_state: JobState, row: int, saved: Mapping[str, float]) -> None:
    """Sets columns of a job, such as those of its progress, to saved values."""
    for name, value in saved.items():
        getattr(job_state.columns, name)[row] = value


def done_s(job_state: JobState, rows: Array, at: Array | float) -> Array:
    """Work done by the time `at`, in seconds of isolated run time."""
    c = job_state.columns
    done: Array = c.done0[rows] + c.rate[rows] * np.maximum(0.0, at - c.anchor[rows])
    return done


def ends_s(
    job_state: JobState, rows: Array, work_s: Array, rate: Array | float, begin: Array | float
) -> Array:
    """When jobs of this much work end that go on from `begin` (s) at constant rates; inf: the rate is 0."""
    takes_s = np.full(len(rows), math.inf)
    np.divide(work_s - job_state.columns.done0[rows], rate, out=takes_s, where=np.greater(rate, 0.0))
    takes_s += begin
    return takes_s


def gpu_seconds(job_state: JobState, rows: Array | slice, at: float) -> Array:
    """GPU time received by the time `at`: GPUs held, integrated over time."""
    c = job_state.columns
    return _received(job_state, rows, at, c.gpu_rate[rows], c.held0)


def run_s(job_state: JobState, rows: Array | slice, at: float) -> Array:
    """Time received by the time `at`, whatever the number of GPUs."""
    rate = job_state.columns.gpu_rate[rows]
    each_holds_one = job_state.single_gpu and not job_state.resized
    return _received(job_state, rows, at, rate if each_holds_one else rate > 0, job_state.columns.run0)


def received_at(job_state: JobState, rows: Array, gpu_s: Array) -> Array:
    """When running jobs will have received this much GPU time."""
    c = job_state.columns
    times: Array = c.held_since[rows] + (gpu_s - c.held0[rows]) / c.held_gpus[rows]
    return times


def _received(job_state: JobState, rows: Array | slice, at: float, rate: Array, earlier: Array) -> Array:
    """`rate` per second of the present stint until `at`, plus `earlier` stints (by row)."""
    received: Array = at - job_state.columns.held_since[rows]
    received *= rate
    received += earlier[rows]
    return received


def each(value: Array | float) -> Iterable[float]:
    """Iterates `value` by row; a scalar is repeated without end."""
    if type(value) is float:
        return repeat(value)
    return value.tolist() if np.ndim(value) else repeat(float(value))  # type: ignore[union-attr]
