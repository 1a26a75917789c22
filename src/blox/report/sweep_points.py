"""A sweep as its pictures need it: panels, lines and positions, and the runs that stand at each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.experiment.settings import Experiment
from blox.experiment.sweep import Grid, setting_of
from blox.report.measures import Measure
from blox.results.comparison import interval
from blox.results.replications import Replications
from blox.results.result import Result
from blox.results.statistics import Interval, mean_interval

_NUMBERS = ("load", "round_s", "jobs", "max_rounds", "speedup")
_PLACES = ("workload", "cluster", "window", "clock")  # where and when, not who decides
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
        if name not in self.lines:
            raise BloxError(
                f"no line is called {name!r}", where="--baseline", fix=suggestion(name, self.lines)
            )
        return self.lines.index(name)


@dataclass(frozen=True)
class Points:
    """The finished runs of a sweep by where they stand; several seeds at one place are one point."""

    layout: Layout
    runs: Mapping[Place, tuple[Result, ...]]

    @classmethod
    def of(cls, layout: Layout, results: Mapping[Experiment, Result]) -> Points:
        found: dict[Place, list[Result]] = {}
        for experiment, result in results.items():
            found.setdefault(layout.places[experiment], []).append(result)
        return cls(layout, {place: tuple(runs) for place, runs in found.items()})

    def at(self, place: Place, measure: Measure) -> Interval | None:
        """A measure at a place with its 95 % interval: over seeds, or over the days of one trace.

        The bounds are the value itself where there is no interval; None where there is no value.
        """
        runs = self.runs.get(place, ())
        values = [measure.of(run) for run in runs]
        if not values or not all(map(math.isfinite, values)):
            return None
        found = interval(runs[0] if len(runs) == 1 else Replications(runs), measure.key)
        return _above_zero(found, sum(values) / len(values))

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


def _above_zero(found: Interval | None, mean: float) -> Interval:
    """What can be drawn of an interval: no figure of a sweep is below 0, however wide its interval."""
    return Interval(mean, mean, mean) if found is None else Interval(mean, max(found.low, 0.0), found.high)


def tick_lines(name: str, width: int) -> list[str]:
    """The name of a tick in short lines: it may break behind any mark, not within a word that fits."""
    lines = [""]
    for piece in re.findall(r"[^\W_]+[\W_]*|[\W_]+", name):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines]


def _word(name: str, text: str) -> str:
    """A setting in a name: a word speaks for itself, a number needs its setting."""
    return text if text[:1].isalpha() else f"{name.removesuffix('_s')} {text}"


def _goes_by(experiment: Experiment) -> str:
    return experiment.compat or str(experiment.scheduler)


def _seed(run: Result) -> int:
    return int(run.experiment.get("seed", 0))
