"""Which line of a sweep has the lowest average JCT at each point, and how far it is below the baseline."""

from __future__ import annotations

from dataclasses import dataclass

from blox.report import measures
from blox.report.run import Run
from blox.report.sweep_points import Points
from blox.report.wide_table import Column, WideTable, right
from blox.results.comparison import Comparison


@dataclass(frozen=True)
class Best:
    """One point: where it is, the lowest line, those not distinguishable from it, and the change to it.

    `change` is that of the baseline's average JCT to the lowest, in per cent, with its 95 % interval.
    """

    where: str
    lowest: str
    others: tuple[str, ...]
    change: str


def best_lines(points: Points, baseline: int = 0) -> list[Best]:
    """A row per point; none where there are no intervals, or one line."""
    layout = points.layout
    if len(layout.lines) < 2 or not points.compared.basis.enough:
        return []
    line_of = [line for _, line, _ in points.runs]
    rows = []
    for (panel, position), numbers in points.numbers().items():
        runs = points.compared.subset(numbers)
        names = [layout.lines[line_of[number]] for number in numbers]
        first, *others = runs.leaders(measures.AVG_JCT.key, measures.AVG_JCT.better)
        where = ", ".join(filter(None, (layout.panels[panel], layout.ticks[position])))
        base = next((at for at, number in enumerate(numbers) if line_of[number] == baseline), None)
        change = "" if base is None else _change(runs, first, base)
        rows.append(Best(where, names[first], tuple(names[at] for at in others), change))
    return rows


def best_table(points: Points, baseline: int = 0) -> WideTable | None:
    """The same for the terminal; None where nothing can be told."""
    rows = best_lines(points, baseline)
    if not rows:
        return None
    heads = [points.layout.across or "", "lowest average JCT", "not distinguishable from it"]
    labels = [[row.where, row.lowest, ", ".join(row.others) or "–"] for row in rows]
    head = right(f"against {points.layout.lines[baseline]}\n(95 % interval)")
    return WideTable(heads, labels, [Column("", head, [right(row.change) for row in rows])])


def _change(runs: Comparison[Run], at: int, base: int) -> str:
    if at == base:
        return "–"
    found = runs.difference(at, base, measures.AVG_JCT.key)
    value = measures.AVG_JCT.of(runs[base])
    if found is None or not value > 0:
        return "cannot be told"
    low, middle, high = (100 * each / value for each in (found.low, found.estimate, found.high))
    return f"{middle:+.0f} % ({low:+.0f} to {high:+.0f})".replace("-", "\u2212")
