"""What the comparison says, in sentences: which policy wins, by how much, and what it costs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from blox.report import choices, gpu_bars, measures, series, units
from blox.report.certainty import certainty, seeds_told
from blox.report.labels import labels
from blox.report.measures import (
    AVG_JCT,
    AVG_RESPONSIVENESS,
    INTERRUPTIONS,
    JOBS,
    MAKESPAN,
    UTILISATION,
    UTILISATION_WHOLE_RUN,
)
from blox.report.run import Run
from blox.report.waits import starving
from blox.results.comparison import Comparison
from blox.results.interruptions import kinds_of


def headline(runs: Sequence[Run]) -> tuple[str, str]:
    """A claim and what goes with it: the winner by average JCT, then its price; for one run, its figures.

    Only those differences are claimed that are distinguishable from none.
    """
    if not runs:
        return "There is nothing to report.", "No run was given."
    names = labels(runs)
    if len(runs) == 1:
        claim, price = _single(names[0], runs[0])
        return claim, f"{price} {certainty(runs)}"
    compared = Comparison.of(runs)
    if len(compared.comparable) < 2:
        return "The runs are over different seeds: they are not compared.", certainty(runs)
    claim, price = _ranked([names[at] for at in compared.comparable], compared.subset(compared.comparable))
    return claim, f"{price} {certainty(runs)}"


def _ranked(names: Sequence[str], runs: Comparison[Run]) -> tuple[str, str]:
    """The winner of comparable runs, and its price."""
    ranked = sorted(
        (position for position in range(len(runs)) if math.isfinite(AVG_JCT.of(runs[position]))),
        key=lambda position: (AVG_JCT.of(runs[position]), position),
    )
    if not ranked:
        return "No job finished in any of the runs.", "There is no completion time to compare."
    return _claim(names, runs, ranked), _price(names, runs, ranked[0])


def _single(name: str, run: Run) -> tuple[str, str]:
    jct = AVG_JCT.of(run)
    if not math.isfinite(jct):
        return f"{name}: no job finished.", "There is no completion time to report."
    count = JOBS.of(run)
    jobs = "The one job takes" if count == 1 else f"{units.number(count)} jobs take"
    claim = f"{name}: {jobs} {units.duration(jct)}{'' if count == 1 else ' on average'}."
    return claim, (
        f"A job first starts {units.duration(AVG_RESPONSIVENESS.of(run))} after its submission on average; "
        f"{_interruptions(run)}; "
        f"{units.number(100 * UTILISATION.of(run), 1)} % of the GPUs in use while jobs arrived, "
        f"{units.number(100 * UTILISATION_WHOLE_RUN.of(run), 1)} % over the whole run; "
        f"makespan {units.duration(MAKESPAN.of(run))}."
    )


def _claim(names: Sequence[str], runs: Comparison[Run], ranked: Sequence[int]) -> str:
    first, others = ranked[0], ranked[1:]
    times = {position: units.duration(AVG_JCT.of(runs[position])) for position in ranked}
    value = AVG_JCT.of(runs[first])
    if not others:
        return f"{names[first]} is the only run in which jobs finished: {times[first]} on average."
    if all(math.isclose(AVG_JCT.of(runs[position]), value, rel_tol=1e-9) for position in others):
        return f"No difference: the average JCT is {times[first]} in every run."
    leaders = runs.leaders(AVG_JCT.key, AVG_JCT.better)
    behind = [position for position in others if position not in leaders]
    if not behind:
        between = f"from {times[first]} ({names[first]}) to {times[others[-1]]} ({names[others[-1]]})"
        if runs.basis.enough:
            return (
                f"Not distinguishable: the average JCT is {between}, and no run can be told from the lowest."
            )
        return f"Not tested: in this one run the average JCT is {between}."
    shown = [behind[0], behind[-1]] if len(behind) > 1 else behind
    against = " and ".join(
        f"{_percent_less(value, AVG_JCT.of(runs[position]))} less than {names[position]} ({times[position]})"
        for position in shown
    )
    tied = [position for position in others if position in leaders]
    if not tied:
        return f"{names[first]} has the lowest average JCT: {times[first]}, {against}."
    same = " and ".join(f"{names[position]} ({times[position]})" for position in tied)
    lowest = f"{names[first]} has the lowest average JCT: {times[first]}"
    return f"{lowest}, not distinguishable from {same}; {against}."


def _price(names: Sequence[str], runs: Sequence[Run], winner: int) -> str:
    """What the winner gives up in responsiveness and in interruptions."""
    responsiveness = [AVG_RESPONSIVENESS.of(run) for run in runs]
    mine = responsiveness[winner]
    finite = [value for value in responsiveness if math.isfinite(value)]
    if not finite or not math.isfinite(mine):
        waits = "No responsiveness was recorded"
    elif mine == min(finite):
        after = f"jobs first start after {units.duration(mine)} on average"
        waits = f"{names[winner]} is also the most responsive: {after}"
    else:
        quickest = responsiveness.index(min(finite))
        waits = (
            f"The price: jobs first start after {units.duration(mine)} on average, "
            f"against {units.duration(min(finite))} with {names[quickest]}"
        )
    counts = [INTERRUPTIONS.of(run) for run in runs]
    least = min((count for count in counts if math.isfinite(count)), default=math.nan)
    if not math.isfinite(counts[winner]):
        return waits + "."
    if counts[winner] == least:
        return f"{waits}; {_interruptions(runs[winner])}, no run has fewer."
    fewest = f"{units.number(least)} with {names[counts.index(least)]}"
    return f"{waits}; {_interruptions(runs[winner])}, against {fewest}."


def gantt_caption(window: gpu_bars.GanttWindow, runs: Sequence[Run]) -> str:
    """Which part of the runs the Gantt view shows, which of these runs, and which of their seeds."""
    most = gpu_bars.MOST_PANELS
    which = "" if len(runs) <= most else f" The first {most} of {len(runs)} runs."
    return f"{_part_shown(window)}{which}{seeds_told(runs)[0]}"


def _part_shown(window: gpu_bars.GanttWindow) -> str:
    if window.whole:
        return "The whole run: every GPU, from the first start to the last finish."
    unit = units.axis_unit(window.end_s - window.start_s)
    begin, end = (units.number(time / unit.seconds, 1) for time in (window.start_s, window.end_s))
    gpus = f"the first {window.gpus} of {units.number(window.of_gpus)} GPUs"
    if window.gpus == window.of_gpus:
        gpus = f"all {window.gpus} GPUs"
    reason = f", {window.reason}" if window.reason else ""
    return f"A part of the run: {gpus}, from {begin} to {end} {unit.name}{reason}."


def smoothing(runs: Sequence[Run], of: Callable[[Run], series.Level]) -> str:
    """How the lines over time were made, where they are not exact."""
    return smoothed([of(run) for run in runs])


def smoothed(drawn_levels: Sequence[series.Level]) -> str:
    """The same of levels that are drawn together."""
    levels = [found for found in drawn_levels if found.interval_s]
    intervals = sorted({units.duration(found.interval_s) for found in levels})
    if not intervals:
        return ""
    length = intervals[0] if len(intervals) == 1 else "short intervals"
    seeds = max(found.seeds for found in levels)
    drawn = len(drawn_levels) <= min(found.most_bands for found in levels)
    if seeds > 1:
        bounds = "the shaded bands are" if drawn else "hover for"
        means = f"Lines are means over {length} and {seeds} seeds"
        return f"{means}; {bounds} their 95 % intervals, while all go on."
    bounds = "the shaded bands reach from" if drawn else "hover for"
    return f"Lines are means over {length}; {bounds} the least {'to' if drawn else 'and'} the greatest value."


def unfinished(runs: Sequence[Run]) -> str:
    """How many tracked jobs have no completion time, by run; empty where all have one."""
    counts = []
    for name, run in zip(labels(runs), runs):
        times = series.tracked(run, "jct_s")
        missing = len(times) - int((times == times).sum())
        if missing:
            counts.append(f"{units.number(missing)} of {units.number(len(times))} in {name}")
    return f"Jobs that did not finish are left out: {'; '.join(counts)}." if counts else ""


def _percent_less(value: float, other: float) -> str:
    share = 100 * (1 - value / other) if other else 0.0
    return (
        f"{share:.0f} %"
        if share >= 9.95 or share == 0
        else f"{share:.1f} %"
        if share >= 0.1
        else "under 0.1 %"
    )


def _interruptions(run: Run) -> str:
    """How often jobs were preempted, moved or lost their node, each kind by itself."""
    counts = {kind: run.summary[kind] for kind in kinds_of(run.summary)}
    told = [_count(count, kind.removesuffix("s")) for kind, count in counts.items() if count]
    return " and ".join(told) or "no interruptions"


def _count(value: float, noun: str) -> str:
    if value == 0:
        return f"no {noun}s"
    return f"{units.number(value)} {noun}{'' if value == 1 else 's'}"


def notes(runs: Sequence[Run]) -> list[str]:
    """What a reader of these runs should know beside their figures; what holds for all is said once."""
    each = [remarks(run) for run in runs]
    common = [remark for remark in each[0] if all(remark in told for told in each)] if len(runs) > 1 else []
    own = [
        f"{name}: {remark}"
        for name, told in zip(labels(runs), each)
        for remark in told
        if remark not in common
    ]
    return [*mixed_speeds(runs), *different_apps(runs), *common, *own]


def remarks(run: Run) -> list[str]:
    """What a reader of this run's figures should know beside them, a sentence each."""
    told, summary = [*starving(run), *choices.told(run)], run.summary
    known = run.experiment.get("provenance", {})
    told += known.get("assumed", ())
    told += [f"a metric could not be worked out: {fault}" for fault in known.get("metric_faults", ())]
    if "opt_gap" in summary:
        gap = 100 * float(summary["opt_gap"])
        told.append(
            f"{summary['opt_solved']:,} programs solved, at most {gap:.2g} % from the best"
            + ("; where a time limit cuts them off, another run may end elsewhere" if gap >= 0.1 else "")
        )
    if summary.get("nothing_to_share"):
        told.append(
            "the nodes name no cores and memory, so that placement synergy had none to share out "
            "(write --cluster 16x8:cpu=24,memory_gb=500)"
        )
    if relaxed := summary.get("slo_relaxed"):
        told.append(f"SLOs could not all be held; those of {relaxed:,} jobs were relaxed")
    if slos := summary.get("slos"):
        told.append(f"{summary['slos_missed']:,} of {slos:,} SLOs were missed")
    elif deadlines := summary.get("deadlines"):
        told.append(f"{summary['deadlines_missed']:,} of {deadlines:,} deadlines were missed")
    if (cost := summary.get("cost_dollars")) is not None and not run.experiment.get("prices"):
        told.append(f"the GPUs in use cost ${cost:,.0f}")
    resizable = summary.get("resizable_jobs")
    if resizable == 0:
        told.append(
            "it resizes jobs, and none of these can be resized: min_gpus and max_gpus are what each asks for "
            "(--workload elastic:of=... makes jobs elastic)"
        )
    elif resizable and not (speeds := performance(run)).startswith("goodput"):
        told.append(
            f"it resizes jobs, and goodput is not in use: performance {speeds} does not know what more GPUs, "
            "fewer GPUs or another batch size do to a job (leave --performance out)"
        )
    if unknown := run.experiment.get("provenance", {}).get("unknown_models"):
        told.append(f"jobs of models that are no application scale in proportion to their GPUs: {unknown}")
    interval = re.search(r"\binterval_s=([\d.e+]+)", str(run.experiment.get("scheduler", "")))
    round_s = float(run.experiment.get("round_s", 0.0))
    if resizable is not None and interval and 0 < float(interval[1]) < round_s:
        told.append(
            f"interval_s={interval[1]} is shorter than a round: it is asked every {round_s:g} s "
            f"(--round {interval[1]})"
        )
    return told


def performance(run: Run) -> str:
    """The performance model of a run: as named, or what `auto` came to."""
    named = str(run.experiment.get("performance", ""))
    found = run.experiment.get("provenance", {}).get("performance") if named == "auto" else None
    return str(found or named)


def different_apps(runs: Sequence[Run]) -> list[str]:
    """A sentence where runs group their jobs into apps in different ways, so that app rho is not alike."""
    by_column: dict[str, list[str]] = {}
    for name, run in zip(labels(runs), runs):
        by_column.setdefault(measures.apps_of(run), []).append(name)
    if len(by_column) < 2 or not measures.by_app(runs):
        return []
    told = "; ".join(f"by {column or 'group'} in {', '.join(names)}" for column, names in by_column.items())
    return [f"app rho is of different apps: {told} (--apps COLUMN sets one for all)"]


def mixed_speeds(runs: Sequence[Run]) -> list[str]:
    """A sentence where elastic jobs go by goodput in some of the runs only, so that times are not alike."""
    by_model: dict[str, list[str]] = {}
    for name, run in zip(labels(runs), runs):
        if found := performance(run):
            by_model.setdefault(found, []).append(name)
    if len(by_model) < 2 or not any(model.startswith("goodput") for model in by_model):
        return []
    told = "; ".join(f"{model} in {', '.join(names)}" for model, names in by_model.items())
    return [f"jobs' speeds are not by the same model: {told} (--performance MODEL sets one for all)"]
