"""Where the outcomes of two runs that should be equal differ, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.checks.scenarios import Outcome
from blox.workloads.table import Array


def difference(one: Outcome, other: Outcome, first: str, second: str) -> str:
    """The first job or round that differs between two outcomes, in words; empty if none does."""
    ids = one.jobs["job_id"]
    for column in (
        "admit_s",
        "first_start_s",
        "finish_s",
        "preemptions",
        "moves",
        "run_s",
        "gpu_seconds",
        "state",
    ):
        row = _first_difference(one.jobs[column], other.jobs[column])
        if row is not None:
            here, there = (_value(outcome.jobs[column][row]) for outcome in (one, other))
            return f"{column} of job {ids[row]!r} is {here} {first} and {there} {second}"
    for table in ("rounds", "stints"):
        for column, values in getattr(one, table).items():
            row = _first_difference(values, getattr(other, table)[column])
            if row is not None:
                return f"the {table} differ in {column} (row {row}) between {first} and {second}"
    return ""


def _first_difference(one: Array, other: Array) -> int | None:
    if len(one) != len(other):
        return min(len(one), len(other))
    different = one != other
    if one.dtype.kind == "f":
        different &= ~(np.isnan(one) & np.isnan(other))
    return int(np.argmax(different)) if different.any() else None


def _value(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
