"""The report of a sweep: each figure of merit over the settings that differ, and relative to a baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from blox.experiment.parallel import Outcome
from blox.experiment.sweep import Grid, setting_of
from blox.report import measures
from blox.report.page import document, embedded, section
from blox.report.sheets import WAITING, own_measures
from blox.report.sweep_figures import sweep_figure
from blox.report.sweep_points import Layout, Points
from blox.results.files import write_text
from blox.results.result import Result

SHOWN = ("avg_jct_s", "p95_jct_s", "avg_responsiveness_s", "utilisation")

Row = tuple[dict[str, str], Result]  # what the settings that vary are called, the run


def points_of(grid: Grid, outcomes: Sequence[Outcome]) -> Points:
    """The finished runs of a sweep where its pictures have them."""
    opened = {outcome.task.experiment: outcome.opened() for outcome in outcomes}
    found = {experiment: result for experiment, result in opened.items() if result is not None}
    return Points.of(Layout.of(grid, [outcome.task.experiment for outcome in outcomes]), found)


def shown_measures(points: Points) -> list[measures.Measure]:
    """The measures that are drawn: the common ones, the longest waits, and those of one's own."""
    common = [measure for measure in measures.TERMINAL if measure.key in SHOWN]
    return [*common, WAITING[0], *own_measures([run for runs in points.runs.values() for run in runs])]


def write_sweep_report(
    path: Path,
    grid: Grid,
    outcomes: Sequence[Outcome],
    title: str = "blox sweep",
    baseline: str | None = None,
) -> None:
    """Writes the page to `path`: whole, or not at all. Runs that differ only in their seed are one point."""
    varying = grid.varying()
    names = grid.names([outcome.task.experiment for outcome in outcomes])
    rows: list[Row] = [
        ({name: names[name][setting_of(outcome.task.experiment, name)] for name in varying}, outcome.result)
        for outcome in outcomes
        if outcome.result is not None
    ]
    points = points_of(grid, outcomes)
    layout, against = points.layout, points.layout.line_called(baseline)
    swept = ", ".join(f"{len({s[name] for s, _ in rows})} values of {name}" for name in varying)
    price = f"{len(rows)} of {len(outcomes)} runs finished: {swept or 'one experiment'}."
    note = " Points are means over the seeds, bars their 95 % intervals." if points.seeds > 1 else ""
    parts = []
    for measure in shown_measures(points):
        heading = f"{measure.name} {measure.group}".strip().capitalize().replace("jct", "JCT")
        content = embedded(f"by-{measure.key}", sweep_figure(points, measure))
        if len(layout.lines) > 1:
            content += f'<p class="caption">Relative to {escape(layout.lines[against])}: below 1 is less.</p>'
            content += embedded(f"relative-{measure.key}", sweep_figure(points, measure, against))
        across = f"By {layout.across}." if layout.across else ""
        parts.append(section(f"by-{measure.key}", heading, f"{across}{note}", content))
    table = section("runs", "All runs", "The same figures as in sweep.csv.", _table(rows, varying), long=True)
    claim = _claim(_lines(points), layout.across or "the sweep")
    write_text(path, document(title, claim, price, [*parts, table]))


def _lines(points: Points) -> dict[str, dict[Any, list[Result]]]:
    """Runs by line, then by where they stand."""
    lines: dict[str, dict[Any, list[Result]]] = {name: {} for name in points.layout.lines}
    for (panel, line, position), runs in points.runs.items():
        lines[points.layout.lines[line]][panel, position] = list(runs)
    return lines


def _claim(lines: dict[str, dict[Any, list[Result]]], across: str) -> str:
    """Which lines have the shortest average JCT, and where; all that share it are named."""
    wins: dict[tuple[str, ...], int] = {}
    same = 0  # values at which every line has the same
    points = list(dict.fromkeys(value for line in lines.values() for value in line))
    for value in points:
        means = {name: _mean(line[value], measures.AVG_JCT) for name, line in lines.items() if value in line}
        finite = {name: mean for name, mean in means.items() if math.isfinite(mean)}
        if len(finite) < 2:
            continue
        least = min(finite.values())
        # The mean over seeds may round differently where every run is equal.
        winners = tuple(name for name, mean in finite.items() if math.isclose(mean, least, rel_tol=1e-12))
        if len(winners) == len(finite):
            same += 1
        else:
            wins[winners] = wins.get(winners, 0) + 1
    if same == len(points) > 0:
        return f"No difference in average JCT at any value of {across}"
    if not wins:
        return f"Average JCT against {across}"
    best = max(wins, key=wins.__getitem__)
    where = (
        "everywhere" if wins[best] == len(points) else f"at {wins[best]} of {len(points)} values of {across}"
    )
    equal = f"; no difference at {same}" if same else ""
    names = " and ".join(filter(None, (", ".join(best[:-1]), best[-1])))
    return f"{names} {'have' if len(best) > 1 else 'has'} the shortest average JCT {where}{equal}"


def _mean(runs: Sequence[Result], measure: measures.Measure) -> float:
    return sum(measure.of(run) for run in runs) / len(runs)


def _table(rows: Sequence[Row], varying: Sequence[str]) -> str:
    runs = [run for _, run in rows]
    heads = [escape(name) for name in varying]
    columns = []
    for measure in measures.PAGE:
        unit, texts = measures.column(measure, runs)
        heads.append(
            escape(f"{measure.group} {measure.name}".strip()) + (f" <small>({unit})</small>" if unit else "")
        )
        columns.append(texts)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(settings[name])}</td>" for name in varying)
        + "".join(f"<td>{texts[position]}</td>" for texts in columns)
        + "</tr>"
        for position, (settings, _) in enumerate(rows)
    )
    head = "".join(f"<th>{text}</th>" for text in heads)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
