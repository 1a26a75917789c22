"""Which run is best at each point of a sweep or in each group of jobs, and what is not distinguishable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.report import measures
from blox.report.measures import AVG_JCT, Measure
from blox.report.run import Run
from blox.report.sheet import Row
from blox.report.sweep_points import Points
from blox.report.wide_table import Column, WideTable, right
from blox.results.comparison import Comparison
from blox.results.statistics import Interval

UNKNOWN = "cannot be told"


@dataclass(frozen=True)
class Verdict:
    """One point or group: its best run and those not distinguishable from it, as lists of their names.

    `change` is the figure of the best run less that of the baseline; None where it is the baseline itself,
    or where that cannot be told.
    """

    where: str
    best: str
    others: str
    change: Interval | None = None


@dataclass(frozen=True)
class Verdicts:
    """The verdicts by one measure; `across` says what the points or groups are."""

    measure: Measure
    across: str
    baseline: str
    rows: tuple[Verdict, ...]

    @property
    def heads(self) -> tuple[str, str, str]:
        """Heads of the texts."""
        which = "highest" if self.measure.better == "high" else "lowest"
        figure = f"{self.measure.name} {self.measure.group}".strip()
        return self.across, f"{which} {figure}", "not distinguishable from it"

    def changes(self) -> tuple[str, list[str]]:
        """The unit, and how far each best run is from the baseline, with its interval."""
        known = [row.change for row in self.rows if row.change is not None]
        unit, write = measures.written_in(self.measure, [abs(change.estimate) for change in known])

        def signed(value: float) -> str:
            return f"{'+' if value >= 0 else '−'}{write(abs(value))}"

        return unit, [
            "–"
            if row.change is None
            else f"{signed(row.change.estimate)} ({signed(row.change.low)} to {signed(row.change.high)})"
            for row in self.rows
        ]

    def table(self) -> WideTable:
        """The same for the terminal, in heads of two lines."""
        unit, changes = self.changes()
        lines = [f"against {self.baseline}", f"{unit} (95 % interval)".strip()]
        column = Column("", right("\n".join(lines)), [right(change) for change in changes])
        across, best, others = self.heads
        heads = [across, best.replace(" ", "\n", 1), others.replace(" from", "\nfrom")]
        return WideTable(heads, [[row.where, row.best, row.others] for row in self.rows], [column])


def of_points(points: Points, baseline: int = 0) -> Verdicts | None:
    """By average JCT, at each point of a sweep that has intervals; None where there are none, or one line."""
    layout = points.layout
    line_of = [line for _, line, _ in points.runs]
    rows = []
    for (panel, position), numbers in points.numbers().items() if len(layout.lines) > 1 else ():
        runs, names = points.compared.subset(numbers), [layout.lines[line_of[number]] for number in numbers]
        if runs.basis.enough:
            where = ", ".join(filter(None, (layout.panels[panel], layout.ticks[position])))
            base = next((at for at, number in enumerate(numbers) if line_of[number] == baseline), None)
            rows.append(_verdict(where, names, runs, AVG_JCT, base))
    across = layout.across or ""
    return Verdicts(AVG_JCT, across, layout.lines[baseline], tuple(rows)) if rows else None


def of_groups(groups: Sequence[Comparison[Row]], across: str, measure: Measure) -> Verdicts | None:
    """By a measure, in each group of jobs; None where no group has intervals, or there is one run."""
    if not measure.better or not any(len(runs) > 1 and runs.basis.enough for runs in groups):
        return None
    rows = [
        _verdict(runs[0].names[0], [row.names[-1] for row in runs], runs, measure, 0)
        if runs.basis.enough
        else Verdict(runs[0].names[0], "–", UNKNOWN)
        for runs in groups
    ]
    return Verdicts(measure, across, groups[0][0].names[-1], tuple(rows))


def _verdict(
    where: str, names: Sequence[str], runs: Comparison[Run], measure: Measure, baseline: int | None
) -> Verdict:
    """The intervals are those by which runs are told apart: they hold together with 95 %."""
    against = runs.against_best(measure.key, measure.better)
    best, others = next(iter(against), None), list(against.items())[1:]
    if best is None or not others or any(found is None for _, found in others):
        return Verdict(where, "–", UNKNOWN)
    alike = [names[at] for at, found in others if found is not None and not found.excludes_zero]
    worse = None if baseline is None else against.get(baseline)
    change = None if worse is None else Interval(-worse.estimate, -worse.high, -worse.low)
    return Verdict(where, names[best], ", ".join(alike) or "–", change)
