"""Averages over seeds with their spread, line by line: what most figures draw against a load or a size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from blox.report.charts import Line
from blox.reproduce.answer import Table
from blox.reproduce.page import Done
from blox.results.result import Result

Curves = Mapping[str, Mapping[float, float]]  # line -> x -> value


class Spread(NamedTuple):
    """A value over seeds: the mean, and the lowest and highest of them."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(sum(values) / len(values), min(values), max(values))

    def text(self, digits: int = 2) -> str:
        """`3.60`, with `(3.41–3.80)` behind it where the seeds differ."""
        mean, low, high = (f"{value:,.{digits}f}" for value in self)
        return mean if low == high else f"{mean} ({low}–{high})"


Spreads = Mapping[str, Mapping[float, Spread]]  # line -> x -> value over seeds


def average_jct_h(result: Result) -> float:
    """The average job completion time, in hours; nan where no job finished."""
    seconds = result.summary.get("avg_jct_s")
    return float("nan") if seconds is None else float(seconds) / 3600


def average_jct_s(result: Result) -> float:
    """The same in seconds."""
    return 3600 * average_jct_h(result)


def responsiveness_min(result: Result) -> float:
    """The average time from submission to the first start, in minutes; nan where no job started."""
    seconds = result.summary.get("avg_responsiveness_s")
    return float("nan") if seconds is None else float(seconds) / 60


def spreads(done: Sequence[Done], measure: Callable[[Result], float] = average_jct_h) -> Spreads:
    """A measure over the seeds, by line and place on it; both in the order of the cases."""
    values: dict[str, dict[float, list[float]]] = {}
    for each in done:
        values.setdefault(each.case.line, {}).setdefault(each.case.x, []).append(measure(each.result))
    return {line: {x: Spread.of(found) for x, found in points.items()} for line, points in values.items()}


def means(found: Spreads) -> Curves:
    """The means alone."""
    return {line: {x: value.mean for x, value in points.items()} for line, points in found.items()}


def curves(done: Sequence[Done], measure: Callable[[Result], float] = average_jct_h) -> Curves:
    """The mean of a measure over the seeds, by line and place on it; both in the order of the cases."""
    return means(spreads(done, measure))


def drawn(found: Spreads, like: Mapping[str, str] | None = None) -> tuple[Line, ...]:
    """A line of a chart for each, its spread as bars; `like`: line -> the line whose colour it takes."""
    return tuple(
        Line(
            line,
            tuple(points),
            tuple(value.mean for value in points.values()),
            like=(like or {}).get(line, ""),
            low=tuple(value.low for value in points.values()),
            high=tuple(value.high for value in points.values()),
        )
        for line, points in found.items()
    )


def table(found: Spreads, x: str, unit: str, digits: int = 2) -> Table:
    """A row per place on the lines, a column per line; `x` heads the first column."""
    lines = list(found)
    rows = tuple(
        (f"{place:g}", *(found[line][place].text(digits) for line in lines))
        for place in next(iter(found.values()))
    )
    return Table((x, *(f"{line}, {unit}" for line in lines)), rows)


def excess(curve: Mapping[float, float], base: Mapping[float, float]) -> dict[float, float]:
    """By how much a line lies above another, as a share: 0.1 is 10 % above; where both have a value."""
    return {x: value / base[x] - 1 for x, value in curve.items() if x in base}
