"""What is known of how a run's figures vary: its runs over several seeds, or the days of its one trace.

Where a seed draws the jobs, runs over several seeds are independent, and runs of two schedulers over the same
seed are a pair. Where the jobs are given (a trace), there is one sample of them: its days of submission are
resampled, the same days for every run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from blox.results.bootstrap import block_days, resampled_means, resampled_quantiles
from blox.results.flat import flat
from blox.results.statistics import (
    FEWEST_BLOCKS,
    LEVEL,
    Interval,
    bootstrap_interval,
    mean_interval,
    paired_interval,
    resampled_interval,
)
from blox.workloads.table import Array

DAY_S = 86400.0

# figure of the summary -> the column of jobs that it is over, and its quantile (None: the mean)
OVER_JOBS: dict[str, tuple[str, float | None]] = {
    "avg_jct_s": ("jct_s", None),
    "median_jct_s": ("jct_s", 0.50),
    "p95_jct_s": ("jct_s", 0.95),
    "p99_jct_s": ("jct_s", 0.99),
    "avg_responsiveness_s": ("responsiveness_s", None),
    "p95_responsiveness_s": ("responsiveness_s", 0.95),
    "avg_queueing_s": ("queueing_s", None),
    "p95_waited_s": ("waited_s", 0.95),
    "p99_waited_s": ("waited_s", 0.99),
    "avg_slowdown": ("slowdown", None),
    "p95_slowdown": ("slowdown", 0.95),
    "avg_rho": ("rho", None),
}


class Figures(Protocol):
    """What is read of a run; one over several seeds has them as `runs`."""

    @property
    def experiment(self) -> Mapping[str, Any]: ...
    @property
    def summary(self) -> Mapping[str, Any]: ...
    @property
    def jobs(self) -> Mapping[str, Array]: ...


@dataclass(frozen=True)
class Basis:
    """What intervals are made from: so many `seeds`, or so many `days` of one trace.

    `drawn` are these seeds: each draws jobs of its own.
    """

    seeds: int = 0
    days: int = 0
    drawn: frozenset[int] = frozenset()

    @property
    def blocks(self) -> int:
        """The blocks of consecutive days that are resampled."""
        return self.days // block_days(self.days)

    @property
    def enough(self) -> bool:
        """Whether there are intervals at all."""
        return self.seeds > 1 or self.blocks >= FEWEST_BLOCKS


class Sample(Protocol):
    """Gives intervals of the figures of a run, and of their differences from those of another."""

    @property
    def basis(self) -> Basis: ...

    def interval(self, figure: str) -> Interval | None:
        """A figure with its 95 % interval; None where there is none."""
        ...

    def difference(self, other: Any, figure: str, level: float = LEVEL) -> Interval | None:
        """How much larger a figure is here than in the other; None where that cannot be told."""
        ...

    def ratio(self, other: Any, figure: str) -> Interval | None:
        """A figure here over that in the other, by pairs; None where that cannot be told."""
        ...


def runs_of(run: Any) -> Sequence[Any]:
    """The runs of one over several seeds; a single one as it is."""
    found: Sequence[Any] = getattr(run, "runs", (run,))
    return found


def sample_of(run: Figures) -> Sample:
    """The runs over seeds where each seed has jobs of its own, or else the days of the jobs."""
    runs: Sequence[Figures] = runs_of(run)
    drawn = {each.experiment.get("provenance", {}).get("workload_sha256", at) for at, each in enumerate(runs)}
    if len(drawn) <= 1:
        return Days(run)
    drawn_again = str(runs[0].experiment.get("workload", "")).startswith("resampled:")
    return Resamples(runs) if drawn_again else Seeds(runs)


class Seeds:
    """Runs over several seeds, each with jobs of its own.

    `gaps`: some runs may lack a figure, which is then over the others; without, it has no interval.
    """

    def __init__(self, runs: Sequence[Figures], *, gaps: bool = False) -> None:
        self._by_seed = {int(run.experiment.get("seed", 0)): flat(run.summary) for run in runs}
        self._gaps = gaps
        self.basis = Basis(seeds=len(self._by_seed), drawn=frozenset(self._by_seed))

    def interval(self, figure: str) -> Interval | None:
        return self.around(self._values(figure, self.having(figure)))

    def around(self, values: Array) -> Interval | None:
        """The mean of a value that each of the runs has, with its 95 % interval."""
        return mean_interval(values)

    def difference(self, other: Any, figure: str, level: float = LEVEL) -> Interval | None:
        if not isinstance(other, Seeds):
            return None
        common = self._common(other, figure)
        return paired_interval(self._values(figure, common), other._values(figure, common), level)

    def ratio(self, other: Any, figure: str) -> Interval | None:
        """That of the means. Its error is that of `mine - ratio x theirs`, over the mean of theirs: the ratio
        estimator of Cochran, Sampling Techniques, 3rd ed. 1977, section 2.11."""
        if not isinstance(other, Seeds):
            return None
        common = self._common(other, figure)
        mine, theirs = self._values(figure, common), other._values(figure, common)
        base = float(theirs.mean()) if len(common) else 0.0
        if not base > 0:
            return None
        estimate = float(mine.mean()) / base
        error = self.around(mine - estimate * theirs)
        if error is None:
            return None
        return Interval(estimate, estimate + error.low / base, estimate + error.high / base)

    def _common(self, other: Seeds, figure: str) -> list[int]:
        """The seeds by which a figure is compared, in pairs."""
        theirs = other.having(figure)
        return [seed for seed in self.having(figure) if seed in theirs]

    def having(self, figure: str) -> list[int]:
        """The seeds that a figure is over."""
        seeds = list(self._by_seed)
        known = np.isfinite(self._values(figure, seeds))
        return [seed for seed, has in zip(seeds, known) if has or not self._gaps]

    def _values(self, figure: str, seeds: Sequence[int]) -> Array:
        return np.array([number(self._by_seed[seed].get(figure)) for seed in seeds])


class Resamples(Seeds):
    """Runs over resamples of one trace: more of them make an interval surer, and not narrower."""

    def around(self, values: Array) -> Interval | None:
        return _around_mean(values, LEVEL)

    def difference(self, other: Any, figure: str, level: float = LEVEL) -> Interval | None:
        if not isinstance(other, Resamples):
            return None
        common = self._common(other, figure)
        return _around_mean(self._values(figure, common) - other._values(figure, common), level)


def _around_mean(values: Array, level: float) -> Interval | None:
    return resampled_interval(float(values.mean()), values, len(values), level) if len(values) else None


class Days:
    """The measured jobs of one trace by day of submission; of several seeds, the jobs of all of them.

    It keeps the columns that it needs and not the run: that may be one of many, and read from disk for this.
    """

    def __init__(self, run: Figures) -> None:
        self._summary, self._run = run.summary, [run]
        self._resampled: dict[str, dict[float | None, Array]] = {}

    @cached_property
    def basis(self) -> Basis:
        return Basis(days=int(self._day.max(initial=-1)) + 1)

    def interval(self, figure: str) -> Interval | None:
        if not self.basis.enough or OVER_JOBS.get(figure, ("",))[0] not in self._columns:
            return None
        return bootstrap_interval(self._figure(figure), self._values(figure), self.basis.blocks)

    def difference(self, other: Any, figure: str, level: float = LEVEL) -> Interval | None:
        if not isinstance(other, Days) or not self._same_days(other):
            return None
        if self.interval(figure) is None or other.interval(figure) is None:
            return None
        mine, theirs = self._figure(figure), other._figure(figure)
        estimate = 0.0 if math.isclose(mine, theirs, rel_tol=1e-9) else mine - theirs
        resampled = self._values(figure) - other._values(figure)
        return bootstrap_interval(estimate, resampled, self.basis.blocks, level)

    def ratio(self, other: Any, figure: str) -> Interval | None:
        if self.difference(other, figure) is None or not other._figure(figure) > 0:
            return None
        theirs = other._values(figure)
        resampled = np.divide(
            self._values(figure), theirs, out=np.full(len(theirs), math.nan), where=theirs > 0
        )
        return bootstrap_interval(self._figure(figure) / other._figure(figure), resampled, self.basis.blocks)

    def _figure(self, figure: str) -> float:
        return number(self._summary.get(figure))

    def _same_days(self, other: Days) -> bool:
        """Whether both are over the same jobs, so that drawing a day again draws it for both."""
        return bool(np.array_equal(np.unique(self._submit_s), np.unique(other._submit_s)))

    @cached_property
    def _columns(self) -> dict[str, Array]:
        """The columns that figures are over, and `submit_s`: the measured jobs alone."""
        jobs = self._run.pop().jobs
        measured = np.asarray(jobs.get("in_window", np.zeros(0))) == 1
        names = ("submit_s", *dict.fromkeys(column for column, _ in OVER_JOBS.values()))
        return {name: np.asarray(jobs[name], dtype=np.float64)[measured] for name in names if name in jobs}

    @property
    def _submit_s(self) -> Array:
        return self._columns.get("submit_s", np.zeros(0))

    @cached_property
    def _day(self) -> Array:
        """The day of each measured job: days on which some were submitted, counted from 0."""
        first = self._submit_s.min(initial=math.inf)
        day: Array = np.unique((self._submit_s - first) // DAY_S, return_inverse=True)[1]
        return day

    def _values(self, figure: str) -> Array:
        """The figure in every resample of the days."""
        column, share = OVER_JOBS[figure]
        if column not in self._resampled:
            values = self._columns[column]
            known, days = ~np.isnan(values), self.basis.days
            values, day = values[known], self._day[known]
            shares = [q for name, q in OVER_JOBS.values() if name == column and q is not None]
            found: dict[float | None, Array] = {None: resampled_means(values, day, days)}
            found.update(zip(shares, resampled_quantiles(values, day, days, shares) if shares else ()))
            self._resampled[column] = found
        return self._resampled[column][share]


def number(value: Any) -> float:
    """A figure as a float; nan where there is none."""
    return float(value) if isinstance(value, int | float) else math.nan
