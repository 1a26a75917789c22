"""The figures by which runs are compared: where each is found, how it is written, which value is best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from blox.report import units
from blox.report.run import Run
from blox.results.comparison import Comparison
from blox.results.flat import flat

Kind = Literal["seconds", "share", "count", "rate", "ratio", "number"]
Mark = Literal["best", "tied", ""]  # of a figure: the best, or not distinguishable from it


@dataclass(frozen=True)
class Measure:
    """One figure of a summary. `better` is the direction of improvement, "" where there is none."""

    key: str
    group: str
    name: str
    kind: Kind
    better: Literal["low", "high", ""] = "low"

    def of(self, run: Run) -> float:
        """Its value in a run, nan where the run does not have it."""
        source = run.timing if self.kind == "rate" else run.summary
        found = source.get(self.key)
        return as_number(flat(source).get(self.key) if found is None and "." in self.key else found)


JOBS = Measure("jobs", "", "jobs", "count", "")
AVG_JCT = Measure("avg_jct_s", "JCT", "average", "seconds")
AVG_RESPONSIVENESS = Measure("avg_responsiveness_s", "responsiveness", "average", "seconds")
INTERRUPTIONS = Measure("interruptions", "", "interruptions", "count")
UTILISATION = Measure("utilisation", "", "utilisation", "share", "high")
UTILISATION_WHOLE_RUN = Measure("utilisation_whole_run", "whole run", "utilisation", "share", "high")
MAKESPAN = Measure("makespan_s", "", "makespan", "seconds")
JOBS_PER_S = Measure("jobs_per_s", "simulated", "jobs/s", "rate", "")

JCTS = (
    AVG_JCT,
    Measure("median_jct_s", "JCT", "median", "seconds"),
    Measure("p95_jct_s", "JCT", "p95", "seconds"),
    Measure("p99_jct_s", "JCT", "p99", "seconds"),
)
_COMMON = (
    *JCTS,
    AVG_RESPONSIVENESS,
    Measure("p95_responsiveness_s", "responsiveness", "p95", "seconds"),
    MAKESPAN,
    UTILISATION,
    INTERRUPTIONS,
)
TERMINAL = (*_COMMON, JOBS_PER_S)
FAIRNESS = (
    Measure("avg_rho", "rho", "average", "ratio"),
    Measure("max_rho", "rho", "largest", "ratio"),
    Measure("rho_jain", "rho", "Jain", "ratio", "high"),
)
APPS = tuple(
    Measure(measure.key.replace("rho", "app_rho"), "app rho", measure.name, "ratio", measure.better)
    for measure in FAIRNESS
)
PAGE = (
    *_COMMON,
    *FAIRNESS,
    *APPS,
    Measure("preemptions", "", "preemptions", "count"),
    Measure("moves", "", "moves", "count"),
    Measure("fragmentation", "", "fragmentation", "share"),
    Measure("queue_length", "", "jobs waiting", "ratio"),
    UTILISATION_WHOLE_RUN,
    Measure("fragmentation_whole_run", "whole run", "fragmentation", "share"),
    Measure("queue_length_whole_run", "whole run", "jobs waiting", "ratio"),
    JOBS,
)


FAILURES = (
    Measure("node_failures", "nodes", "failed", "count", ""),
    Measure("node_drains", "nodes", "drained", "count", ""),
    Measure("job_failures", "jobs", "failed", "count", ""),
    Measure("evicted_jobs", "jobs", "evicted", "count"),
    Measure("evictions", "", "evictions", "count"),
    Measure("lost_gpu_seconds", "GPU time", "lost", "seconds"),
)
EFFECTIVE_RATIO = Measure("effective_training_ratio", "", "all", "share", "high")


def effective_ratios(runs: Sequence[Run]) -> tuple[Measure, ...]:
    """The effective training time ratio, of all jobs and by the GPUs that they ask for."""
    keys = {key for run in runs for key in run.summary}
    sizes = [2**power for power in range(32) if f"{EFFECTIVE_RATIO.key}_{2**power}_gpus" in keys]
    names = [f"{most // 2 + 1}-{most}" if most > 2 else f"{most}" for most in sizes]
    by_size = (
        Measure(f"{EFFECTIVE_RATIO.key}_{most}_gpus", "", name, "share", "high")
        for most, name in zip(sizes, names)
    )
    return (EFFECTIVE_RATIO, *by_size)


def by_app(runs: Sequence[Run]) -> bool:
    """Whether some run has apps of several jobs, so that what is said of apps is not said of jobs already."""
    pairs = [(job.key, app.key) for job, app in zip(FAIRNESS, APPS)]
    return any(
        run.summary.get(app, run.summary.get(job)) != run.summary.get(job)
        for run in runs
        for job, app in pairs
    )


def shown_on_page(runs: Sequence[Run]) -> tuple[Measure, ...]:
    """The figures of a page; without those of apps where they would repeat those of jobs."""
    return PAGE if by_app(runs) else tuple(measure for measure in PAGE if measure not in APPS)


def apps_of(run: Run) -> str:
    """The column that made jobs one app in a run: as named, or what `auto` came to."""
    named = str(run.experiment.get("apps", ""))
    return str(run.experiment.get("provenance", {}).get("apps", "")) if named in ("", "auto") else named


def as_number(value: Any) -> float:
    """A float, nan for what is absent or not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def column(
    measure: Measure, runs: Sequence[Run], *, short: bool = False, time: units.Unit | None = None
) -> tuple[str, list[str]]:
    """The unit of a measure over several runs, the same for all, and the values written in it.

    With `short`, large counts are abbreviated (`157k`). `time`: the unit of times, if it is given.
    """
    values = [measure.of(run) for run in runs]
    unit, write = written_in(measure, values, short, time)
    return unit, [write(value) for value in values]


def half_widths(measure: Measure, runs: Sequence[Run], *, short: bool = False) -> list[str]:
    """How far each 95 % interval reaches (`±0.31`), like the values; "" where there is none or it is 0."""
    return reaches(measure, [Comparison.of(runs)], short=short)


def reaches(
    measure: Measure,
    compared: Sequence[Comparison[Run]],
    *,
    short: bool = False,
    time: units.Unit | None = None,
) -> list[str]:
    """The same for the runs of several comparisons, one after another, in the unit of them all."""
    _, write = written_in(measure, [measure.of(run) for runs in compared for run in runs], short, time)
    found = [runs.interval(position, measure.key) for runs in compared for position in range(len(runs))]
    return [f"±{write(each.half_width)}" if each is not None and each.half_width else "" for each in found]


def best(measure: Measure, runs: Sequence[Run]) -> list[int]:
    """The position of the best run by a measure, then those of runs not distinguishable from it.

    None where all are so: where they do not differ, and where it cannot be told whether they do. Nor where
    they mean different things: rho of users in one, of tenants in another.
    """
    if measure in APPS and len({apps_of(run) for run in runs}) > 1:
        return []
    compared = Comparison.of(runs)
    leaders = compared.leaders(measure.key, measure.better) if measure.better else []
    ranked = sum(math.isfinite(measure.of(runs[position])) for position in compared.comparable)
    return leaders if len(leaders) < ranked else []


def marks(measure: Measure, runs: Sequence[Run]) -> list[Mark]:
    """The mark of each run, by `best`."""
    leaders = best(measure, runs)
    found: list[Mark] = ["tied" if position in leaders else "" for position in range(len(runs))]
    if leaders:
        found[leaders[0]] = "best"
    return found


def written_in(
    measure: Measure, values: Sequence[float], short: bool = False, time: units.Unit | None = None
) -> tuple[str, Callable[[float], str]]:
    """The unit of a measure over these values, and how a value is written in it; `time`: that of times."""
    if measure.kind == "seconds":
        unit = time or units.column_unit(values)
        scaled = [value / unit.seconds for value in values]
        places = 0 if unit is units.SECOND and max(scaled, default=0) >= 100 else units.decimals_for(scaled)
        return unit.name, lambda value: units.number(value / unit.seconds, places)
    if measure.kind == "ratio":
        return "", lambda value: units.number(value, 3)
    if measure.kind == "number":
        places = units.decimals_for(values)
        return "", lambda value: units.number(value, places)
    if measure.kind == "share":
        return "%", lambda value: units.number(100 * value, 1)
    if any(value < 10 and not value.is_integer() for value in values):  # means of small counts
        write = units.compact if short else units.number
        return "", lambda value: f"{value:.1f}" if value < 10 and not value.is_integer() else write(value)
    return "", units.compact if short else units.number
