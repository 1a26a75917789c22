"""The figures of a run by the values of a column: GPU count, tenant, user, model, job type, or one's own."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.results import own_metrics
from blox.results.groups import groups_of
from blox.results.interruptions import kinds_of
from blox.results.metrics import job_figures
from blox.results.samples import Days, Figures, Sample, Seeds, runs_of, sample_of
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.results.result import Result

_SUMS = ("preemptions", "moves", "cost_dollars", "energy_kwh")  # columns of jobs that are added up
NEEDED = ("waited_s", "slowdown", "deadline_s", "duration_s", "rho")  # that earlier versions did not have
_OF_THE_WORKLOAD = ("jobs", "deadlines")  # no property of the scheduler: they have no interval


@dataclass(frozen=True)
class GroupFigures:
    """The figures of one group of a run's jobs, and the sample that tells how sure they are.

    Of a run over several seeds the figures are means over the seeds in which the group has jobs; numbers of
    jobs, and what is added up over jobs, are means over all seeds.
    """

    value: Any
    summary: dict[str, Any]
    sample: Sample

    def with_bounds(self) -> dict[str, Any]:
        """The figures, each with the bounds of its interval (`_low`, `_high`) behind it, where it has one."""
        found: dict[str, Any] = {}
        for name, value in self.summary.items():
            found[name] = value
            interval = self.sample.interval(name)
            if interval is not None:
                found[f"{name}_low"], found[f"{name}_high"] = interval.low, interval.high
        return found


def breakdown(run: Figures, column: str, *, most: int | None = None) -> dict[str, Array]:
    """Columns with a row per group: the group, then its figures and the bounds of their 95 % intervals.

    See `Result.by` and `GroupFigures`. A bound is nan where there is none: fewer than two seeds, or too few
    days, in which the group has jobs.
    """
    groups = figures_by_group(run, column, most=most)
    found = {column: _column([group.value for group in groups])}
    rows = [group.with_bounds() for group in groups]
    for name in _in_order(rows):
        found[name] = np.array([np.nan if row.get(name) is None else row[name] for row in rows])
    return found


def figures_by_group(
    run: Figures, column: str, *, most: int | None = None, own: bool = True
) -> list[GroupFigures]:
    """The groups of a run's counted jobs by the values of a column, in order of the values.

    `own`: with the metrics of one's own that the run was made with.
    """
    runs = runs_of(run)
    for each in runs:
        _check(each, column)
    counted = [np.flatnonzero(np.asarray(each.jobs["in_window"]) == 1) for each in runs]
    values, weight = (
        np.concatenate([part(each.jobs)[rows] for each, rows in zip(runs, counted)])
        for part in (lambda jobs: np.asarray(jobs[column]), _asked_s)
    )
    begins = np.cumsum([0, *map(len, counted)])
    metrics = _metrics(runs[0]) if own else []
    found = []
    for group in groups_of(values, np.arange(len(values)), most=most, weight=weight):
        bounds = group.rows.searchsorted(begins)
        rows = [
            rows_of[group.rows[low:high] - begin]
            for (low, high), rows_of, begin in zip(itertools.pairwise(bounds), counted, begins)
        ]
        parts = [_Part(each, those, _figures(each, those, metrics)) for each, those in zip(runs, rows)]
        summary = _mean([part.summary for part in parts])
        found.append(GroupFigures(group.value, summary, _sample(run, parts, summary)))
    return found


@dataclass(frozen=True)
class _Part:
    """Some jobs of a run, in its shape, with the figures of these jobs."""

    run: Any
    rows: Array
    summary: dict[str, Any]

    @property
    def experiment(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.run.experiment
        return found

    @property
    def jobs(self) -> Mapping[str, Array]:
        return {name: np.asarray(values)[self.rows] for name, values in self.run.jobs.items()}

    def of_the_run(self) -> _Part:
        """Without figures that every run of the workload has in common."""
        kept = {name: value for name, value in self.summary.items() if name not in _OF_THE_WORKLOAD}
        return replace(self, summary=kept)


@dataclass(frozen=True)
class _Pooled:
    """The jobs of a group in all seeds together, of a workload that is the same for every seed."""

    parts: Sequence[_Part]
    summary: Mapping[str, Any]

    @property
    def experiment(self) -> Mapping[str, Any]:
        return self.parts[0].experiment

    @property
    def jobs(self) -> Mapping[str, Array]:
        tables = [part.jobs for part in self.parts]
        shared = [name for name in tables[0] if all(name in table for table in tables)]
        return {name: np.concatenate([table[name] for table in tables]) for name in shared}


def _sample(run: Figures, parts: Sequence[_Part], summary: Mapping[str, Any]) -> Sample:
    """How sure the figures of a group are, by what the run itself goes by: its seeds, or its days.

    Every figure is over the seeds that its mean is over: those that have it.
    """
    own = sample_of(run)
    if isinstance(own, Seeds):
        return type(own)([part.of_the_run() for part in parts], gaps=True)
    return Days(_Pooled(parts, summary))


def _check(result: Any, column: str) -> None:
    missing = [name for name in NEEDED if name not in result.jobs]
    if missing:
        raise BloxError(
            f"the jobs have no column {missing[0]!r}: the results are damaged, or of an earlier version",
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
    """The mean of each figure over the seeds that have it."""
    if len(figures) == 1:
        return figures[0]
    found: dict[str, Any] = {}
    for name in figures[0]:
        values = [each[name] for each in figures if each[name] is not None]
        found[name] = sum(values) / len(values) if values else None
    return found


def _in_order(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of all rows, those of bounds behind their figure also where only some rows have them."""
    names = dict.fromkeys(name for row in rows for name in row)
    bounds = {f"{name}{end}" for name in names for end in ("_low", "_high")}
    plain = [name for name in names if name not in bounds]
    return [each for name in plain for each in (name, f"{name}_low", f"{name}_high") if each in names]


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
