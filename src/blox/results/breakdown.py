"""The figures of a run by the values of a column: GPU count, tenant, user, model, job type, or one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.results import own_metrics
from blox.results.groups import groups_of
from blox.results.interruptions import kinds_of
from blox.results.metrics import job_figures
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.results.result import Result

_SUMS = ("preemptions", "moves", "cost_dollars", "energy_kwh")  # columns of jobs that are added up


def breakdown(result: Result, column: str, *, most: int | None = None) -> dict[str, Array]:
    """Columns with a row per group: the group, then its figures. See `Result.by`."""
    jobs = result.jobs
    if "waited_s" not in jobs:
        raise BloxError(
            "the results are of an earlier version, without the columns that this needs",
            where=result.label,
            fix="run the experiment again (its experiment.toml)",
        )
    if column not in jobs:
        raise BloxError(f"jobs have no column {column!r}", where="by", fix=suggestion(column, jobs))
    counted = np.flatnonzero(np.asarray(jobs["in_window"]) == 1)
    asked_s = jobs["gpus"] * jobs["duration_s"]  # the same in every run of a workload: so are the groups
    groups = groups_of(jobs[column], counted, most=most, weight=asked_s)
    metrics = _metrics(result)
    rows = [_figures(result, group.rows, metrics) for group in groups]
    found = {column: _column([group.value for group in groups])}
    for name in rows[0] if rows else ():
        found[name] = np.array([np.nan if row[name] is None else row[name] for row in rows])
    return found


def _figures(result: Result, rows: Array, metrics: list[own_metrics.OwnMetric]) -> dict[str, Any]:
    jobs = result.jobs
    found = job_figures(jobs, rows, end_s=float(result.summary["end_s"]))
    for name in _SUMS:
        if name in jobs:
            found[name] = jobs[name][rows].sum().item()
    kinds = [name for name in kinds_of(result.summary) if name in jobs]
    found["interruptions"] = sum(int(jobs[name][rows].sum()) for name in kinds)
    rho = jobs["rho"][rows]
    rho = rho[~np.isnan(rho)]
    found["avg_rho"], found["max_rho"] = (float(rho.mean()), float(rho.max())) if len(rho) else (None, None)
    held, all_held = float(jobs["gpu_seconds"][rows].sum()), float(jobs["gpu_seconds"].sum())
    found["gpu_hours"] = held / 3600
    found["gpu_share"] = held / all_held if all_held > 0 else None
    group = result.only(rows) if metrics else None
    for metric in metrics:
        try:
            found[metric.key] = metric.of(group) if group is not None else None
        except BloxError:  # of so few jobs it cannot be told
            found[metric.key] = None
    return found


def _metrics(result: Result) -> list[own_metrics.OwnMetric]:
    """The metrics of one's own that the run was made with; those whose file is gone are left out."""
    try:
        return own_metrics.metrics_from_spec(str(result.experiment.get("metrics", "")))
    except BloxError:
        return []


def _column(values: list[Any]) -> Array:
    column = np.array(values)
    if column.dtype.kind in "iuf":
        return column
    column = np.empty(len(values), dtype=object)
    column[:] = [str(value) for value in values]
    return column
