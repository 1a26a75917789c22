"""Averages over seeds, line by line: what most figures of the paper draw against a load or a size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from blox.reproduce.figure import Done
from blox.results.result import Result

Curves = Mapping[str, Mapping[float, float]]  # line -> x -> value


def average_jct_h(result: Result) -> float:
    """The average job completion time, in hours; nan where no job finished."""
    seconds = result.summary.get("avg_jct_s")
    return float("nan") if seconds is None else float(seconds) / 3600


def curves(done: Sequence[Done], measure: Callable[[Result], float] = average_jct_h) -> Curves:
    """The mean of a measure over the seeds, by line and place on it; both in the order of the cases."""
    values: dict[str, dict[float, list[float]]] = {}
    for each in done:
        values.setdefault(each.case.line, {}).setdefault(each.case.x, []).append(measure(each.result))
    return {
        line: {x: sum(found) / len(found) for x, found in points.items()} for line, points in values.items()
    }


def excess(curve: Mapping[float, float], base: Mapping[float, float]) -> dict[float, float]:
    """By how much a line lies above another, as a share: 0.1 is 10 % above; where both have a value."""
    return {x: value / base[x] - 1 for x, value in curve.items() if x in base}
