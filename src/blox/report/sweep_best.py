"""Which line of a sweep has the lowest average JCT at each point, and how far it is below the baseline."""

from __future__ import annotations

from dataclasses import dataclass

from blox.report import units
from blox.report.differences import signed
from blox.report.measures import AVG_JCT
from blox.report.sweep_points import Points
from blox.report.wide_table import Column, WideTable, right
from blox.results.statistics import Interval


@dataclass(frozen=True)
class Best:
    """One point: where it is, the lowest line, those not distinguishable from it, and how far it is below.

    `change` is its average JCT less that of the baseline, in seconds; None where it is the baseline itself,
    or where that cannot be told.
    """

    where: str
    lowest: str
    others: tuple[str, ...]
    change: Interval | None


def best_lines(points: Points, baseline: int = 0) -> list[Best]:
    """A row per point at which there are intervals; none where there is one line."""
    layout = points.layout
    if len(layout.lines) < 2:
        return []
    line_of = [line for _, line, _ in points.runs]
    rows = []
    for (panel, position), numbers in points.numbers().items():
        runs, names = points.compared.subset(numbers), [layout.lines[line_of[number]] for number in numbers]
        if not runs.basis.enough:
            continue
        first, *others = runs.leaders(AVG_JCT.key, AVG_JCT.better)
        base = next((at for at, number in enumerate(numbers) if line_of[number] == baseline), first)
        change = None if base == first else runs.difference(first, base, AVG_JCT.key)
        where = ", ".join(filter(None, (layout.panels[panel], layout.ticks[position])))
        rows.append(Best(where, names[first], tuple(names[at] for at in others), change))
    return rows


def best_table(points: Points, baseline: int = 0) -> WideTable | None:
    """The same for the terminal; None where nothing can be told."""
    rows = best_lines(points, baseline)
    if not rows:
        return None
    unit = units.column_unit([abs(row.change.estimate) for row in rows if row.change is not None])
    heads = [points.layout.across or "", "lowest average JCT", "not distinguishable from it"]
    labels = [[row.where, row.lowest, ", ".join(row.others) or "–"] for row in rows]
    head = right(f"against {points.layout.lines[baseline]}\n{unit.name} (95 % interval)")
    return WideTable(heads, labels, [Column("", head, [right(_told(row.change, unit)) for row in rows])])


def _told(change: Interval | None, unit: units.Unit) -> str:
    if change is None:
        return "–"
    low, middle, high = (
        signed(each / unit.seconds, 1) for each in (change.low, change.estimate, change.high)
    )
    return f"{middle} ({low} to {high})"
