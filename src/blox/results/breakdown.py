"""The figures of a run by the values of a column: GPU count, tenant, user, model, job type, or one's own."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.results import own_metrics
from blox.results.groups import groups_of
from blox.results.interruptions import kinds_of
from blox.results.metrics import job_figures
from blox.results.samples import Figures, runs_of
from blox.results.statistics import mean_interval
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.results.result import Result

_SUMS = ("preemptions", "moves", "cost_dollars", "energy_kwh")  # columns of jobs that are added up


def breakdown(run: Figures, column: str, *, most: int | None = None) -> dict[str, Array]:
    """Columns with a row per group: the group, then its figures. See `Result.by`.

    Of a run over several seeds the figures are means over the seeds in which a group has jobs, with the
    bounds of their 95 % interval beside them (`_low`, `_high`; nan where fewer than two seeds have jobs); of
    numbers of jobs, and of what is added up over jobs, over all seeds.
    """
    runs = runs_of(run)
    for each in runs:
        _check(each, column)
    counted = [np.flatnonzero(np.asarray(each.jobs["in_window"]) == 1) for each in runs]
    values, weight = (
        np.concatenate([part(each.jobs)[rows] for each, rows in zip(runs, counted)])
        for part in (lambda jobs: np.asarray(jobs[column]), _asked_s)
    )
    groups = groups_of(values, np.arange(len(values)), most=most, weight=weight)
    begins = np.cumsum([0, *map(len, counted)])
    metrics = _metrics(runs[0])
    rows = []
    for group in groups:
        bounds = group.rows.searchsorted(begins)
        parts = [group.rows[low:high] for low, high in itertools.pairwise(bounds)]
        rows.append(
            _mean(
                [
                    _figures(each, rows_of[part - begin], metrics)
                    for each, rows_of, part, begin in zip(runs, counted, parts, begins)
                ]
            )
        )
    found = {column: _column([group.value for group in groups])}
    for name in dict.fromkeys(name for row in rows for name in row):
        found[name] = np.array([np.nan if row.get(name) is None else row[name] for row in rows])
    return found


def _check(result: Any, column: str) -> None:
    if "waited_s" not in result.jobs:
        raise BloxError(
            "the results are of an earlier version, without the columns that this needs",
            where=result.label,
            fix="run the experiment again (its experiment.toml)",
        )
    if column not in result.jobs:
        fix = suggestion(column, result.jobs)
        raise BloxError(f"jobs have no column {column!r}", where="by", fix=fix)


def _asked_s(jobs: Mapping[str, Array]) -> Array:
    """The GPU time that jobs ask for: the same in every run of a workload, so that groups are too."""
    asked: Array = jobs["gpus"] * jobs["duration_s"]
    return asked


def _mean(figures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The mean of figures over seeds, with the bounds of its interval unless it counts things."""
    if len(figures) == 1:
        return figures[0]
    found: dict[str, Any] = {}
    for name in figures[0]:
        values = [each[name] for each in figures if each[name] is not None]
        found[name] = sum(values) / len(values) if values else None
        if not all(isinstance(value, int) for value in values):
            interval = mean_interval(np.array(values))
            found[f"{name}_low"] = None if interval is None else interval.low
            found[f"{name}_high"] = None if interval is None else interval.high
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
