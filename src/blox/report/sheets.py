"""The sheets of runs: their figures, the longest waits, and any figure by GPU count, tenant, model, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blox.report.labels import labels
from blox.report.measures import AVG_JCT, JOBS, TERMINAL, Measure, as_number
from blox.report.run import Run
from blox.report.sheet import Row, Sheet
from blox.results.breakdown import breakdown
from blox.results.flat import flat
from blox.results.own_metrics import remembered

MOST_GROUPS = 12  # in a table; others are put together

WAITING = (
    Measure("p95_waited_s", "waiting", "p95", "seconds"),
    Measure("p99_waited_s", "waiting", "p99", "seconds"),
    Measure("max_waited_s", "waiting", "longest", "seconds"),
)
AVG_SLOWDOWN = Measure("avg_slowdown", "slowdown", "average", "number")
P95_SLOWDOWN = Measure("p95_slowdown", "slowdown", "p95", "number")
GPU_HOURS = Measure("gpu_hours", "", "GPU hours", "count", "")
GPU_SHARE = Measure("gpu_share", "", "GPU time", "share", "")
COST = Measure("cost_dollars", "", "cost ($)", "number")
ENERGY = (
    Measure("energy_kwh", "energy", "kWh", "number"),
    Measure("idle_energy_kwh", "energy", "idle kWh", "number"),
)
ENDED_EARLY = Measure("ended_early", "", "ended early", "count", "")
SAVED = (
    Measure("saved_gpu_hours", "work saved", "GPU hours", "count", ""),
    Measure("saved_share", "work saved", "share", "share", ""),
)
LINKS = Measure("avg_link_gbps", "", "link Gb/s", "number", "high")
DEADLINES = (
    Measure("deadlines", "deadlines", "given", "count", ""),
    Measure("deadlines_missed", "deadlines", "missed", "count"),
)
_BY_GPUS = "p95 by GPUs asked for"


def run_sheets(runs: Sequence[Run]) -> list[Sheet]:
    """The figures of runs, a row per run: the common ones, the longest waits, and others that they have."""
    rows = [_row(name, run) for name, run in zip(labels(runs), runs)]
    common = [measure for measure in TERMINAL if measure.kind != "rate"]
    return [
        Sheet.of("all jobs", ["run"], rows, [JOBS, *common], runs),
        waiting_sheet(runs),
        further_sheet(runs),
    ]


def waiting_sheet(runs: Sequence[Run]) -> Sheet:
    """The longest waits of each run, and p95 by the GPUs that jobs ask for: where jobs of one size starve."""
    counts = {count for run in runs for count in run.summary.get("waited_by_gpus") or ()}
    by_gpus = [
        Measure(f"waited_by_gpus.{count}.p95_s", _BY_GPUS, count, "seconds", "")
        for count in sorted(counts, key=_least)
    ]
    rows = [Row((name,), flat(run.summary)) for name, run in zip(labels(runs), runs)]
    of_all = [replace(measure, group="") for measure in WAITING]
    return Sheet.of("longest waits", ["run"], rows, [*of_all, *by_gpus], runs)


def further_sheet(runs: Sequence[Run]) -> Sheet:
    """Slowdown, GPU hours, deadlines, cost, energy and metrics of one's own, where the runs have them."""
    rows = [_row(name, run) for name, run in zip(labels(runs), runs)]
    shown = [AVG_SLOWDOWN, P95_SLOWDOWN, GPU_HOURS, *_further(runs)]
    return Sheet.of("other figures", ["run"], rows, shown, runs)


def breakdown_sheet(runs: Sequence[Run], column: str) -> Sheet:
    """The figures of each run by the values of a column: a row per group and run."""
    groups: dict[str, list[Row]] = {}
    for name, run in zip(labels(runs), runs):
        found = breakdown(run, column, most=MOST_GROUPS)
        for at, value in enumerate(found[column].tolist()):
            figures = {key: values[at].item() for key, values in found.items() if key != column}
            groups.setdefault(str(value), []).append(Row((str(value), name), figures))
    rows = [row for group in groups.values() for row in group]
    p95_jct = next(measure for measure in TERMINAL if measure.key == "p95_jct_s")
    shown = [JOBS, AVG_JCT, p95_jct, *WAITING, AVG_SLOWDOWN, GPU_SHARE, *_further(runs)]
    named = {"gpus": "GPU count", "job_type": "job type"}.get(column, column)
    return Sheet.of(f"by {named}", [named, "run"], rows, shown)


def own_measures(runs: Sequence[Run]) -> list[Measure]:
    """The metrics of one's own that some of the runs have."""
    found: dict[str, Measure] = {}
    for run in runs:
        for metric in remembered(run.experiment):
            kind = metric.unit if metric.unit in ("seconds", "share", "count") else "number"
            found[metric.key] = Measure(metric.key, "", metric.key, kind, metric.better)  # type: ignore[arg-type]
    return list(found.values())


def _further(runs: Sequence[Run]) -> list[Measure]:
    """Measures that say something about these runs only: none has them, or all are 0, otherwise."""

    def some(measure: Measure) -> bool:
        return any(as_number(run.summary.get(measure.key)) > 0 for run in runs)

    found = [measure for measure in (ENDED_EARLY, *SAVED, LINKS) if some(measure)]
    found += DEADLINES if some(DEADLINES[0]) else ()
    found += [measure for measure in (COST, *ENERGY) if some(measure)]
    return found + own_measures(runs)


def _row(name: str, run: Run) -> Row:
    return Row((name,), run.summary, timing=run.timing)


def _least(count: str) -> float:
    """The smallest GPU count of a range, for order."""
    return as_number(count.partition("\N{EN DASH}")[0].replace(",", ""))
