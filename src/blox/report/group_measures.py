"""The measures that groups of jobs have, and which of them a table shows: `--measures`.

A name is that of a family (`jct`), of one figure as CSV files have it (`p99_jct_s`), of a metric of one's
own, or `all`.
"""

from __future__ import annotations

from collections.abc import Sequence

from blox.errors import BloxError, suggestion
from blox.report.measures import AVG_JCT, AVG_RESPONSIVENESS, INTERRUPTIONS, JOBS, Measure, as_number
from blox.report.run import Run
from blox.results.own_metrics import remembered

P95_JCT = Measure("p95_jct_s", "JCT", "p95", "seconds")
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
ENERGY = Measure("energy_kwh", "energy", "kWh", "number")
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
FAMILIES: dict[str, tuple[Measure, ...]] = {
    "jct": (
        AVG_JCT,
        Measure("median_jct_s", "JCT", "median", "seconds"),
        P95_JCT,
        Measure("p99_jct_s", "JCT", "p99", "seconds"),
    ),
    "responsiveness": (
        AVG_RESPONSIVENESS,
        Measure("p95_responsiveness_s", "responsiveness", "p95", "seconds"),
    ),
    "queueing": (Measure("avg_queueing_s", "queueing", "average", "seconds"),),
    "waiting": WAITING,
    "slowdown": (AVG_SLOWDOWN, P95_SLOWDOWN),
    "fairness": (
        Measure("avg_rho", "rho", "average", "ratio"),
        Measure("max_rho", "rho", "largest", "ratio"),
    ),
    "interruptions": (
        INTERRUPTIONS,
        Measure("preemptions", "", "preemptions", "count"),
        Measure("moves", "", "moves", "count"),
    ),
    "gpu-time": (GPU_HOURS, GPU_SHARE),
    "finished": (Measure("finished", "", "finished", "count", ""), ENDED_EARLY),
    "deadlines": DEADLINES,
    "cost": (COST,),
    "energy": (ENERGY,),
}
ALL = "all"
_USUAL = (AVG_JCT, P95_JCT, *WAITING, AVG_SLOWDOWN, GPU_SHARE)
_WHERE_ANY = (ENDED_EARLY, *DEADLINES, COST, ENERGY)  # shown of runs that have some


def check_measures(names: Sequence[str], own: Sequence[str] = ()) -> None:
    """Refuses a name that is none; `own` are metrics of one's own."""
    figures = [measure.key for family in FAMILIES.values() for measure in family]
    for name in names:
        if name not in (ALL, *FAMILIES, *figures, *own):
            known = (ALL, *FAMILIES, *own)
            raise BloxError(
                f"no measure of groups is called {name!r}",
                where="--measures",
                fix=f"{suggestion(name, (*known, *figures))}" if name else f"give one of {', '.join(known)}",
            )


def chosen(names: Sequence[str], runs: Sequence[Run]) -> list[Measure]:
    """The measures by these names, after the number of jobs; by none, the usual ones that runs have."""
    own = {measure.key: measure for measure in own_measures(runs)}
    check_measures(names, tuple(own))
    if not names:
        return [JOBS, *_USUAL, *(measure for measure in _WHERE_ANY if some(measure, runs)), *own.values()]
    single = {measure.key: measure for family in FAMILIES.values() for measure in family} | own
    found = [JOBS]
    for name in names:
        found += single.values() if name == ALL else FAMILIES.get(name, (single.get(name, JOBS),))
    return list(dict.fromkeys(found))


def some(measure: Measure, runs: Sequence[Run]) -> bool:
    """Whether some run has more than 0 of it."""
    return any(as_number(run.summary.get(measure.key)) > 0 for run in runs)


def own_measures(runs: Sequence[Run]) -> list[Measure]:
    """The metrics of one's own that some of the runs have."""
    found: dict[str, Measure] = {}
    for run in runs:
        for metric in remembered(run.experiment):
            kind = metric.unit if metric.unit in ("seconds", "share", "count") else "number"
            found[metric.key] = Measure(metric.key, "", metric.key, kind, metric.better)  # type: ignore[arg-type]
    return list(found.values())
