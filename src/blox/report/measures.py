"""The figures by which runs are compared: where each is found, how it is written, which value is best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from blox.report import units
from blox.report.run import Run

Kind = Literal["seconds", "share", "count", "rate", "ratio"]


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
        return as_number(source.get(self.key))


JOBS = Measure("jobs", "", "jobs", "count", "")
AVG_JCT = Measure("avg_jct_s", "JCT", "average", "seconds")
AVG_RESPONSIVENESS = Measure("avg_responsiveness_s", "responsiveness", "average", "seconds")
PREEMPTIONS = Measure("preemptions", "", "preemptions", "count")
UTILISATION = Measure("utilisation", "", "utilisation", "share", "high")
MAKESPAN = Measure("makespan_s", "", "makespan", "seconds")
JOBS_PER_S = Measure("jobs_per_s", "simulated", "jobs/s", "rate", "")

_COMMON = (
    AVG_JCT,
    Measure("median_jct_s", "JCT", "median", "seconds"),
    Measure("p95_jct_s", "JCT", "p95", "seconds"),
    Measure("p99_jct_s", "JCT", "p99", "seconds"),
    AVG_RESPONSIVENESS,
    Measure("p95_responsiveness_s", "responsiveness", "p95", "seconds"),
    MAKESPAN,
    UTILISATION,
    PREEMPTIONS,
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
    Measure("moves", "", "moves", "count"),
    Measure("fragmentation", "", "fragmentation", "share"),
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


def as_number(value: Any) -> float:
    """A float, nan for what is absent or not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def column(measure: Measure, runs: Sequence[Run], *, short: bool = False) -> tuple[str, list[str]]:
    """The unit of a measure over several runs, the same for all, and the values written in it.

    With `short`, large counts are abbreviated (`157k`).
    """
    values = [measure.of(run) for run in runs]
    if measure.kind == "seconds":
        unit = units.column_unit(values)
        scaled = [value / unit.seconds for value in values]
        places = 0 if unit is units.SECOND and max(scaled, default=0) >= 100 else units.decimals_for(scaled)
        return unit.name, [units.number(value, places) for value in scaled]
    if measure.kind == "ratio":
        return "", [units.number(value, 3) for value in values]
    if measure.kind == "share":
        return "%", [units.number(100 * value, 1) for value in values]
    return "", [units.compact(value) if short else units.number(value) for value in values]


def best(measure: Measure, runs: Sequence[Run]) -> set[int]:
    """The positions of the best runs by a measure; none where the runs do not differ."""
    values = [measure.of(run) for run in runs]
    finite = [value for value in values if math.isfinite(value)]
    if not measure.better or len(finite) < 2 or min(finite) == max(finite):
        return set()
    target = min(finite) if measure.better == "low" else max(finite)
    return {position for position, value in enumerate(values) if value == target}
