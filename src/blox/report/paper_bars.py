"""Bars for a paper with 95 % intervals: figures of the runs, also by model, also relative to a baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from blox.errors import BloxError, suggestion
from blox.report import measures, units
from blox.report.breakdown import Breakdown
from blox.report.charts import Bar, Bars
from blox.report.group_measures import FAMILIES
from blox.report.labels import labels, unmarked
from blox.report.measures import AVG_JCT, AVG_RESPONSIVENESS, MAKESPAN, Measure
from blox.report.run import Run
from blox.report.sheet import Row
from blox.results.breakdown import NEEDED
from blox.results.comparison import Comparison
from blox.results.statistics import Interval

_RELATIVE = (AVG_JCT, *FAMILIES["jct"][1:], AVG_RESPONSIVENESS, MAKESPAN)

Value = tuple[float, Interval | None]


def paper_bars(runs: Sequence[Run], baseline: str | None = None) -> dict[str, list[Bars]]:
    """The pictures by name: `averages`, `normalised`, `by_model` and `by_model_normalised`.

    Normalised ones are there for two runs or more, those by model where jobs have several. `baseline` is the
    name of the run that is 1; the first by default.
    """
    against = baseline_position(runs, baseline)
    compared = Comparison.of(runs)
    found = {"averages": [_times(compared, "jct"), _times(compared, "responsiveness")]}
    if len(runs) > 1:
        found["normalised"] = [_normalised(compared, against)]
    models = _by_model(compared)
    if models is not None:
        found["by_model"] = [_of_groups(models, labels(runs))]
        if len(runs) > 1:
            found["by_model_normalised"] = [_of_groups(models, labels(runs), against)]
    return found


def baseline_position(runs: Sequence[Run], name: str | None) -> int:
    """The position of the run of this name; the first where none is named."""
    names = labels(runs)
    for position, each in enumerate(names):
        if name is None or name in (each, unmarked(each)):
            return position
    raise BloxError(f"no run is called {name!r}", where="--baseline", fix=suggestion(str(name), names))


def _times(runs: Comparison[Run], family: str) -> Bars:
    """Measures of one kind, in one unit: a group for each, a bar for each run."""
    shown = FAMILIES[family]
    unit = units.column_unit([measure.of(run) for measure in shown for run in runs])
    bars = [
        _bar(name, [(measure.of(run), runs.interval(at, measure.key)) for measure in shown], unit.seconds)
        for at, (name, run) in enumerate(zip(labels(runs), runs))
    ]
    named = {"jct": "job completion time"}.get(family, family)
    return Bars(tuple(measure.name for measure in shown), f"{named} ({unit.name})", tuple(bars))


def _normalised(runs: Comparison[Run], against: int) -> Bars:
    """Several measures of each run, over those of the baseline."""
    bars = [
        _bar(name, [_over(runs, at, against, measure) for measure in _RELATIVE])
        for at, name in enumerate(labels(runs))
    ]
    groups = tuple(f"{measure.name} {measure.group}".strip() for measure in _RELATIVE)
    return Bars(groups, f"relative to {labels(runs)[against]}", tuple(bars), one=True)


def _by_model(runs: Comparison[Run]) -> Breakdown | None:
    """The figures by model; None where jobs have no models, one alone, or no such figures."""
    if any(name not in run.jobs for run in runs for name in ("model", *NEEDED)):
        return None
    known = {str(model) for run in runs for model in set(run.jobs["model"].tolist())}
    return Breakdown.of(runs, "model", ["jct"]) if len(known) > 1 else None


def _of_groups(found: Breakdown, names: Sequence[str], against: int | None = None) -> Bars:
    """The average JCT of every group and run; with `against`, over that of the baseline in the same group."""

    def of(name: str, group: Comparison[Row]) -> Value:
        place = {row.names[-1]: at for at, row in enumerate(group)}
        if name not in place:
            return math.nan, None
        if against is None:
            return AVG_JCT.of(group[place[name]]), group.interval(place[name], AVG_JCT.key)
        other = place.get(names[against])
        return (math.nan, None) if other is None else _over(group, place[name], other, AVG_JCT)

    every = [measures.as_number(row.summary.get(AVG_JCT.key)) for group in found.groups for row in group]
    unit = units.column_unit(every)
    scale = unit.seconds if against is None else 1.0
    bars = [_bar(name, [of(name, group) for group in found.groups], scale) for name in names]
    title = f"average JCT ({unit.name})" if against is None else f"average JCT relative to {names[against]}"
    groups = tuple(str(group[0].names[0]) for group in found.groups)
    return Bars(groups, title, tuple(bars), one=against is not None)


def _over(runs: Comparison[Run] | Comparison[Row], at: int, other: int, measure: Measure) -> Value:
    mine, theirs = measure.of(runs[at]), measure.of(runs[other])
    found = runs.ratio(at, other, measure.key) if at != other else None
    return (mine / theirs if theirs else math.nan), found


def _bar(name: str, values: Sequence[Value], scale: float = 1.0) -> Bar:
    """One run in every group; a value without an interval has no whisker."""

    def each(of: Callable[[float, Interval | None], float]) -> tuple[float, ...]:
        return tuple(of(value, interval) / scale for value, interval in values)

    if not any(interval is not None for _, interval in values):
        return Bar(name, each(lambda value, _: value))
    return Bar(
        name,
        each(lambda value, _: value),
        each(lambda value, found: value if found is None else min(found.low, value)),
        each(lambda value, found: value if found is None else max(found.high, value)),
    )
