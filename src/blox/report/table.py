"""The comparison as tables for the terminal: figures with their intervals, differences from the best run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blox.report import measures
from blox.report.differences import differences
from blox.report.labels import labels
from blox.report.run import Run
from blox.report.wide_table import Column, WideTable, right
from blox.results.comparison import Comparison

if TYPE_CHECKING:
    from rich.text import Text


def comparison_table(results: Sequence[Run]) -> WideTable:
    """Average, median, p95 and p99 JCT, responsiveness, makespan, utilisation, interruptions, speed.

    Each column has one unit, named in its head. Below a figure stands how far its 95 % interval reaches. In
    bold green: the best value of a column; in green: those not distinguishable from it.
    """
    compared = Comparison.of(results)
    columns = [figures_column(measure, compared) for measure in measures.TERMINAL]
    return WideTable(["scheduler"], [[name] for name in labels(compared)], columns)


def figures_column(measure: measures.Measure, runs: Sequence[Run], *, marked: bool = True) -> Column:
    """A measure of the runs, with intervals, and the best ones marked."""
    unit, texts = measures.column(measure, runs, short=True)
    reach = measures.half_widths(measure, runs, short=True)
    marks = measures.marks(measure, runs) if marked else []
    return Column(measure.group, right(_head(measure, unit)), figure_cells(texts, reach, marks))


def figure_cells(
    texts: Sequence[str], reach: Sequence[str], marks: Sequence[measures.Mark] = ()
) -> list[Text]:
    """Figures in the style of their marks, and how far their intervals reach below them."""
    cells = []
    for text, around, mark in zip(texts, reach, marks or [""] * len(texts)):
        cell = right(text, _STYLES[mark])
        cells.append(cell.append(f"\n{around}", style="not bold dim") if around else cell)
    return cells


_STYLES = {"best": "bold green", "tied": "green", "": ""}


def difference_table(results: Sequence[Run]) -> WideTable | None:
    """How the average JCT of each run differs from the lowest, by pairs; None where that cannot be told."""
    unit, rows = differences(results)
    if not rows:
        return None
    columns = [
        Column("", right(f"difference\n{unit}"), [right(row.difference) for row in rows]),
        Column("", right("\n"), [right(row.share) for row in rows]),
        Column("", right(f"95 % interval\n{unit}"), [right(row.interval) for row in rows]),
        Column("", right("\n"), [right(row.verdict) for row in rows]),
    ]
    return WideTable(["average JCT"], [[row.name] for row in rows], columns)


_SHORT = {
    "average": "avg",
    "responsiveness": "resp.",
    "utilisation": "util.",
    "interruptions": "in-\nter-\nrupt.",
    "makespan": "make-\nspan",
    "simulated": "sim.",
}


def _head(measure: measures.Measure, unit: str) -> str:
    name = "\n".join(_SHORT.get(word, word) for word in (measure.group, measure.name) if word)
    return f"{name}\n{unit}" if unit else name
