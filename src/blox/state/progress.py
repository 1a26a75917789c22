"""Progress: the work and the GPU time of jobs. The only code that writes the columns that hold them.

A job's work is anchored: `done(t) = done0 + rate * max(0, t - anchor)`, in seconds of isolated run time. Its
GPU time is anchored likewise at `held_since`, the start of its present stint. Nothing is accumulated per
round, so a skipped round and an executed one leave the same bits behind.

Four operations: `begin` a stint, `bank` it when it ends, `rebase` a job whose rate changes, and `report` what
a job has measured itself. Up to SCALAR_MAX jobs are handled as plain numbers, which is several
times faster than short arrays; both forms do the same floating-point operations in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def done_s(job_state: JobState, rows: Array, at: Array | float) -> Array:
    """Work done by the time `at`, in seconds of isolated run time."""
    c = job_state.columns
    done: Array = c.done0[rows] + c.rate[rows] * np.maximum(0.0, at - c.anchor[rows])
    return done


def each(value: Array | float) -> Iterable[float]:
    """Iterates `value` by row; a scalar is repeated without end."""
    if type(value) is float:
        return repeat(value)
    return value.tolist() if np.ndim(value) else repeat(float(value))  # type: ignore[union-attr]
