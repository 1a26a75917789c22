"""Comparisons as CSV: means, the bounds of their intervals, and how each run differs from the best."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from blox.report import measures
from blox.report.labels import is_oracle, labels, unmarked
from blox.report.run import Run
from blox.results.comparison import Comparison
from blox.results.flat import flat
from blox.results.samples import Basis
from blox.results.statistics import Interval


def comparison_csv(runs: Sequence[Run]) -> str:
    """One row per run. For each figure: the mean, `_low` and `_high` of its 95 % interval, where it has one.

    Figures that have a best value also have `_vs_best`, the paired difference from the best run, with the
    bounds of its interval, and `_is_distinguishable`: empty for the best run, and where that cannot be told.
    """
    compared = Comparison.of(runs)
    rows = [
        {
            "run": name,
            "oracle": _word(is_oracle(run)),
            **_basis(compared.basis_of(position)),
            **with_bounds(compared, position),
        }
        for position, (name, run) in enumerate(zip(labels(runs), runs))
    ]
    _add_differences(rows, compared)
    return csv_text(rows)


def means_csv(
    settings: Sequence[Mapping[str, str]], runs: Sequence[Run], sets: Sequence[Sequence[int]] = ()
) -> str:
    """One row per point of a sweep: its settings, and its figures with the bounds of their intervals.

    `sets` are the numbers of the rows that are compared with one another, for `_vs_best` and so on.
    """
    compared = Comparison.of(runs)
    rows = [
        {
            **{name: unmarked(text) for name, text in each.items()},
            "oracle": _word(is_oracle(run)),
            **_basis(compared.basis_of(position)),
            **with_bounds(compared, position),
        }
        for position, (each, run) in enumerate(zip(settings, compared))
    ]
    for numbers in sets:
        _add_differences([rows[number] for number in numbers], compared.subset(numbers))
    return csv_text(rows)


def _add_differences(rows: Sequence[dict[str, Any]], compared: Comparison[Run]) -> None:
    """Adds to each row how its figures differ from the best of these runs."""
    for measure in measures.PAGE:
        for position, found in compared.against_best(measure.key, measure.better).items():
            if measure.better and found is not None:
                rows[position].update(_against(measure.key, found))


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV; a column that a row does not have is empty there."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if value is None else value for name, value in row.items()} for row in rows)
    return file.getvalue()


def _basis(basis: Basis) -> dict[str, Any]:
    return {"seeds": max(basis.seeds, 1), "days": basis.days or ""}


def with_bounds(compared: Comparison[Any], position: int) -> dict[str, Any]:
    """The figures of one run, each with the bounds of its interval, where it has one."""
    found: dict[str, Any] = {}
    for key, value in flat(compared[position].summary).items():
        found[key] = value
        if (interval := compared.interval(position, key)) is not None:
            found[f"{key}_low"], found[f"{key}_high"] = interval.low, interval.high
    return found


def _against(key: str, found: Interval) -> dict[str, Any]:
    return {
        f"{key}_vs_best": found.estimate,
        f"{key}_vs_best_low": found.low,
        f"{key}_vs_best_high": found.high,
        f"{key}_is_distinguishable": _word(found.excludes_zero),
    }


def _word(true: bool) -> str:
    return "yes" if true else "no"
