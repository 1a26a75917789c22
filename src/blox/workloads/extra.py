"""Columns of one's own: what a workload says about its jobs beside the columns that blox knows.

Such a column holds numbers (nan: no value) or text (empty: no value). Policies read it by its name, and
`jobs.csv` has it behind the others. Nothing in the simulation depends on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.workloads.columns import COLUMNS, LARGEST_WHOLE, Array

# Columns of `jobs.csv` that a run measures, beside those that a workload gives, and their types.
MEASURED: dict[str, Any] = {
    **dict.fromkeys(
        (
            "admit_s", "first_start_s", "finish_s", "jct_s", "responsiveness_s", "queueing_s", "waited_s",
            "run_s", "gpu_seconds", "slowdown", "rho", "app_rho", "saved_s", "link_gbps", "cost_dollars",
            "energy_kwh", "useful_gpu_seconds", "lost_gpu_seconds",
        ),
        np.float64,
    ),
    **dict.fromkeys(("preemptions", "moves", "evictions", "in_window", "app"), np.int64),
    **dict.fromkeys(("state", "end_reason"), object),
}  # fmt: skip
# Columns of `jobs.csv` that built-in scheduling policies count (`job_columns`), and their types.
COUNTED: dict[str, Any] = {
    **dict.fromkeys(("promotions", "leases", "lease_extensions", "slo_relaxed"), np.int64),
    "shared_s": np.float64,
}
# Names that mean something else about a job, and the types of their values: what policies read of it, and
# what results tell of it.
TAKEN: dict[str, Any] = {
    **{name: column.dtype for name, column in COLUMNS.items()},
    **{"expected_s": np.float64, "held_gpus": np.int64},
    **MEASURED,
    **COUNTED,
}
_CODE = re.compile(r"[+-]?0\d")  # 007 is a name, not the number 7


def extra_columns(columns: Mapping[str, Any]) -> dict[str, Array]:
    """Columns of one's own as arrays of float64 or text."""
    return {name: _as_array(values) for name, values in columns.items()}


def check_extra(columns: Mapping[str, Array], count: int, *, source: str) -> None:
    """Refuses names that are taken, and columns that do not have a value for each of `count` jobs."""
    check_names(columns, source=source)
    for name, values in columns.items():
        if len(values) != count:
            raise BloxError(
                f"the column {name!r} has {len(values):,} values, and there are {count:,} jobs",
                where=source,
                fix="give one value per job",
            )


def check_names(names: Iterable[str], *, source: str, fix: str = "rename it") -> None:
    """Refuses a name that already says something else about a job."""
    for name in names:
        if name in TAKEN:
            raise BloxError(
                f"no column of your own can be called {name!r}: policies and results use that name",
                where=source,
                fix=fix,
            )


def numbers_or_text(cells: Sequence[str]) -> Array:
    """The cells of a column as numbers, nan for empty ones; as text if one of them is not a finite number.

    A column of which a cell has more digits than a number keeps, or leading zeros, is text.
    """
    values = np.full(len(cells), math.nan)
    for row, cell in enumerate(cells):
        if not cell.strip():
            continue
        try:
            values[row] = float(cell)
        except ValueError:
            return texts(cells)
        if not abs(values[row]) < LARGEST_WHOLE or _CODE.match(cell.strip()):
            return texts(cells)
    return texts(cells) if np.isnan(values).all() else values


def texts(cells: Sequence[Any]) -> Array:
    """A column of text."""
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def without_values(like: Array, size: int) -> Array:
    """A column of so many jobs that have no value, of the same kind as another."""
    return np.full(size, math.nan) if like.dtype.kind == "f" else np.full(size, "", dtype=object)


def joined(tables: Sequence[Mapping[str, Array]], counts: Sequence[int]) -> dict[str, Array]:
    """The columns of several tables, one behind the other; jobs of a table without a column have no value."""
    like = {name: values for table in tables for name, values in table.items()}
    return {
        name: np.concatenate(
            [table[name] if name in table else without_values(kind, n) for table, n in zip(tables, counts)]
        )
        for name, kind in like.items()
    }


def _as_array(values: Any) -> Array:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    return texts([str(value) for value in values])
