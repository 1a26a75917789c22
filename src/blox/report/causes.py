"""Why jobs waited, in figures with intervals: the time per submitted job, and the share of each cause.

The figures are over all submitted jobs, in the window or not. Over several seeds their intervals are those of
the seeds. Of one trace they come from resampling its days of submission, with the waits of every job.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from blox.explain.explanation import Explanation
from blox.report import series
from blox.report.labels import labels
from blox.report.measures import Measure, as_number
from blox.report.run import Run
from blox.report.sheet import Row, Sheet
from blox.results.bootstrap import resampled_means
from blox.results.comparison import Comparison
from blox.results.result import Result
from blox.results.samples import DAY_S, Basis, Sample, Seeds, runs_of, sample_of
from blox.results.statistics import LEVEL, Interval, bootstrap_interval
from blox.workloads.table import Array

PER_JOB = Measure("waited_per_job_s", "", "per job", "seconds", "")


def causes_sheet(runs: Sequence[Run]) -> Sheet:
    """A row per run: how long a submitted job waited on average, and the share of each cause."""
    causes = series.causes(runs)
    if len(causes) > len(series.causes(())):  # more than usual: leave out those without figures
        causes = tuple(cause for cause in causes if any(run.summary.get(f"wait_{cause}_s") for run in runs))
    rows = [Row((name,), _mean_figures(run)) for name, run in zip(labels(runs), runs)]
    compared = Comparison(rows, [_sample(run, row.summary) for run, row in zip(runs, rows)])
    shown = [PER_JOB, *(Measure(_share(cause), "", cause, "share", "") for cause in causes)]
    return Sheet.of("why jobs waited (all submitted)", ["run"], rows, shown, [compared], absent=True)


def _share(cause: str) -> str:
    return f"wait_share_{cause}"


def _figures(run: Any) -> dict[str, float]:
    """The time that a submitted job waited, and the share of each cause that made jobs wait."""
    waited = series.waiting(run)
    total, jobs = sum(waited.values()), as_number(run.summary.get("submitted"))
    found = {PER_JOB.key: total / jobs if jobs > 0 else math.nan}
    return found | {_share(cause): seconds / total for cause, seconds in waited.items() if seconds > 0}


def _mean_figures(run: Run) -> dict[str, float]:
    """The same of a run over several seeds: means over the seeds in which any job waited."""
    each = [_figures(one) for one in runs_of(run)]
    waits = [figures for figures in each if len(figures) > 1]
    found = {PER_JOB.key: sum(figures[PER_JOB.key] for figures in each) / len(each)}
    for name in dict.fromkeys(name for figures in waits for name in figures if name != PER_JOB.key):
        found[name] = sum(figures.get(name, 0.0) for figures in waits) / len(waits)
    return found


def _sample(run: Run, mean: Mapping[str, Any]) -> Sample:
    """What tells how sure these figures are: the seeds of the run, or the days of its jobs."""
    sample = sample_of(run)
    if isinstance(sample, Seeds):
        zero = dict.fromkeys(mean, 0.0)
        return type(sample)(
            [Row((), zero | _figures(one), experiment=one.experiment) for one in runs_of(run)]
        )
    return _CauseDays(run, mean)


class _CauseDays:
    """The submitted jobs of one trace by day, with what each waited for every cause."""

    def __init__(self, run: Run, mean: Mapping[str, Any]) -> None:
        self._runs, self._mean = runs_of(run), mean

    @cached_property
    def basis(self) -> Basis:
        """Nothing where the waits of single jobs cannot be told: of a run without its tables."""
        if not all(isinstance(run, Result) and "job" in run.stints for run in self._runs):
            return Basis()
        return Basis(days=int(self._day.max(initial=-1)) + 1)

    def interval(self, figure: str) -> Interval | None:
        if not self.basis.enough or figure not in self._mean:
            return None
        return bootstrap_interval(float(self._mean[figure]), self._resampled(figure), self.basis.blocks)

    def difference(self, other: Any, figure: str, level: float = LEVEL) -> Interval | None:
        """None: shares of causes are not ranked."""
        return None

    def ratio(self, other: Any, figure: str) -> Interval | None:
        """None, likewise."""
        return None

    def _resampled(self, figure: str) -> Array:
        """The figure in every resample of the days: a mean over jobs, or a ratio of two."""
        days, total = self.basis.days, np.sum(list(self._waits.values()), axis=0)
        every = resampled_means(total, self._day, days)
        if figure == PER_JOB.key:
            return every
        part = resampled_means(self._waits[figure], self._day, days)
        share: Array = np.divide(part, every, out=np.full(len(every), math.nan), where=every > 0)
        return share

    @cached_property
    def _day(self) -> Array:
        submit_s = np.concatenate([np.asarray(run.jobs["submit_s"]) for run in self._runs])
        first = submit_s.min(initial=math.inf)
        day: Array = np.unique((submit_s - first) // DAY_S, return_inverse=True)[1]
        return day

    @cached_property
    def _waits(self) -> dict[str, Array]:
        """Seconds that every job waited, by the figure of the cause."""
        each = [Explanation(run).waits() for run in self._runs]
        return {_share(cause): np.concatenate([waits[cause] for waits in each]) for cause in each[0]}
