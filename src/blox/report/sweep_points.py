"""A sweep as its pictures need it: panels, lines and positions, and the runs that stand at each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.experiment.settings import Experiment
from blox.experiment.sweep import Grid, setting_of
from blox.report.labels import marked, unmarked
from blox.report.measures import Measure
from blox.report.run import Run
from blox.results.comparison import Comparison
from blox.results.replications import as_one
from blox.results.result import Result, label_of
from blox.results.samples import sample_of
from blox.results.statistics import Interval, mean_interval

_NUMBERS = ("load", "round_s", "jobs", "max_rounds")
_PLACES = ("workload", "cluster", "window", "clock", "overheads", "failures")  # conditions, not policies
_POLICIES = ("auto", "scheduler", "compat")  # the setting that is marked where its run is an oracle's
_NAMES = {"load": "load (jobs per hour)", "round_s": "round (s)"}

Place = tuple[int, int, int]  # panel, line, position


@dataclass(frozen=True)
class Layout:
    """What a sweep's pictures show: `ticks` along one axis, a line per policy, a panel for what else differs.

    `across` is the setting along the axis, "" where none differs; `numeric`: its values are numbers, so that
    lines may join them.
    """

    across: str
    numeric: bool
    values: tuple[Any, ...]
    ticks: tuple[str, ...]
    lines: tuple[str, ...]
    panels: tuple[str, ...]
    places: Mapping[Experiment, Place] = field(default_factory=dict)

    @classmethod
    def of(cls, grid: Grid, experiments: Sequence[Experiment]) -> Layout:
        """The layout of the experiments of a grid: of their settings alone, known before anything runs."""
        varying = [name for name in grid.varying() if name != "seed"]
        numeric = next((name for name in _NUMBERS if name in varying), "")
        across = numeric or next((name for name in _PLACES if name in varying), "")
        beside = [name for name in varying if name in (*_NUMBERS, *_PLACES) and name != across]
        labels = grid.labels(experiments)
        names = grid.names(experiments)

        def told(experiment: Experiment, settings: Sequence[str]) -> str:
            found = {name: names[name][setting_of(experiment, name)] for name in settings}
            return ", ".join(_word(name, text) for name, text in found.items() if text)

        policies = [name for name in varying if name not in (across, *beside)]
        lines = [
            (each.label if labels.of_runs else told(each, policies)) or labels.names([_goes_by(each)])[0]
            for each in experiments
        ]
        panels = [told(each, beside) for each in experiments]
        at = [setting_of(each, across) if across else "" for each in experiments]
        orders = [list(dict.fromkeys(column)) for column in (panels, lines, at)]
        if numeric:
            orders[2].sort(key=float)
        places = {
            each: (orders[0].index(panel), orders[1].index(line), orders[2].index(value))
            for each, panel, line, value in zip(experiments, panels, lines, at)
        }
        ticks = [names[across][value] if across else "" for value in orders[2]]
        return cls(
            across, bool(numeric), tuple(orders[2]), tuple(ticks), tuple(orders[1]), tuple(orders[0]), places
        )

    @property
    def axis_title(self) -> str:
        return _NAMES.get(self.across, "" if self.across in _PLACES else self.across)

    def line_called(self, name: str | None) -> int:
        """The number of a line; the first where none is named."""
        if name is None:
            return 0
        lines = [unmarked(line) for line in self.lines]
        if name not in (*lines, *self.lines):
            raise BloxError(f"no line is called {name!r}", where="--baseline", fix=suggestion(name, lines))
        return lines.index(unmarked(name))


@dataclass(frozen=True)
class Points:
    """The finished runs of a sweep by where they stand; several seeds at one place are one point."""

    layout: Layout
    runs: Mapping[Place, tuple[Result, ...]]
    compared: Comparison[Run]  # a run per place, in the order of `runs`

    @classmethod
    def of(
        cls,
        layout: Layout,
        results: Mapping[Experiment, Result],
        tables: Mapping[Experiment, Result] | None = None,
    ) -> Points:
        """`tables`: the same results with their jobs, where these are without; they are not kept."""
        runs: dict[Place, list[Result]] = {}
        with_tables: dict[Place, list[Result]] = {}
        for experiment, result in results.items():
            place = layout.places[experiment]
            runs.setdefault(place, []).append(result)
            with_tables.setdefault(place, []).append((tables or results)[experiment])
        asked: dict[Place, list[int]] = {}
        for experiment, place in layout.places.items():
            asked.setdefault(place, []).append(experiment.seed)
        compared: Comparison[Run] = Comparison(
            [as_one(each, asked[place]) for place, each in runs.items()],
            [sample_of(as_one(each, asked[place])) for place, each in with_tables.items()],
        )
        of_line = {line: run for (_, line, _), run in zip(runs, compared)}
        lines = [marked(name, of_line[at]) if at in of_line else name for at, name in enumerate(layout.lines)]
        layout = replace(layout, lines=tuple(lines))
        return cls(layout, {place: tuple(each) for place, each in runs.items()}, compared)

    def settings(self, grid: Grid) -> list[dict[str, str]]:
        """What the settings that vary, but for the seed, are called at each place; an oracle is marked."""
        first: dict[Place, Experiment] = {}
        for experiment, place in self.layout.places.items():
            first.setdefault(place, experiment)
        varying = [name for name in grid.varying() if name != "seed"]
        names = grid.names(list(self.layout.places))
        found = []
        for place, run in zip(self.runs, self.compared):
            told = {name: names[name][setting_of(first[place], name)] for name in varying}
            found.append(marked_settings(told or {"scheduler": label_of(first[place].to_table())}, run))
        return found

    def sets(self) -> list[tuple[list[str], Comparison[Run]]]:
        """The lines that are compared with one another, and their runs: those at one position of a panel."""
        lines = [self.layout.lines[line] for _, line, _ in self.runs]
        return [
            ([lines[number] for number in numbers], self.compared.subset(numbers))
            for numbers in self.numbers().values()
        ]

    def numbers(self) -> dict[tuple[int, int], list[int]]:
        """By panel and position, the numbers of the runs there, as `compared` has them."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, (panel, _, position) in enumerate(self.runs):
            found.setdefault((panel, position), []).append(number)
        return found

    def at(self, place: Place, measure: Measure) -> Interval | None:
        """A measure at a place with its 95 % interval: over seeds, or over the days of one trace.

        The bounds are the value itself where there is no interval; None where there is no value.
        """
        if place not in self.runs:
            return None
        position = list(self.runs).index(place)
        value = measure.of(self.compared[position])
        return _above_zero(self.compared.interval(position, measure.key), value) if value == value else None

    def against(self, place: Place, baseline: int, measure: Measure) -> Interval | None:
        """How many times a measure is that of another line at the same place, by pairs of the same seed."""
        panel, _, position = place
        theirs = {_seed(run): measure.of(run) for run in self.runs.get((panel, baseline, position), ())}
        mine = {_seed(run): measure.of(run) for run in self.runs.get(place, ())}
        ratios = [mine[seed] / theirs[seed] for seed in mine if theirs.get(seed)]
        if not ratios or not all(map(math.isfinite, ratios)):
            return None
        return _above_zero(mean_interval(np.array(ratios)), sum(ratios) / len(ratios))

    def dodge(self, line: int) -> float:
        """How far a line is moved along an axis of numbers, so that intervals do not hide one another."""
        positions = [float(value) for value in self.layout.values]
        step = 0.006 * (max(positions) - min(positions)) if self.seeds > 1 else 0.0
        return (line - (len(self.layout.lines) - 1) / 2) * step

    @property
    def seeds(self) -> int:
        """Runs behind a point, at most."""
        return max((len(runs) for runs in self.runs.values()), default=0)


def marked_settings(told: Mapping[str, str], run: Run) -> dict[str, str]:
    """Settings in words, of which the policy is marked where the run is an oracle's."""
    policy = next((name for name in _POLICIES if told.get(name)), "")
    return {name: marked(text, run) if name == policy else text for name, text in told.items()}


def _above_zero(found: Interval | None, mean: float) -> Interval:
    """What can be drawn of an interval: no figure of a sweep is below 0, however wide its interval."""
    return Interval(mean, mean, mean) if found is None else Interval(mean, max(found.low, 0.0), found.high)


def _word(name: str, text: str) -> str:
    """A setting in a name: a word speaks for itself, a number needs its setting."""
    return text if text[:1].isalpha() else f"{name.removesuffix('_s')} {text}"


def _goes_by(experiment: Experiment) -> str:
    return "auto" if experiment.auto else experiment.compat or str(experiment.scheduler)


def _seed(run: Result) -> int:
    return int(run.experiment.get("seed", 0))
