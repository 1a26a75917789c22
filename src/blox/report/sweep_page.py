"""The report of a sweep: each figure of merit over the settings that differ, and relative to a baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from blox.experiment.parallel import Outcome
from blox.experiment.sweep import Grid, setting_of
from blox.report import measures
from blox.report.certainty import certainty, jobs_told
from blox.report.group_measures import WAITING, own_measures
from blox.report.page import document
from blox.report.page_parts import embedded, scrolled, section
from blox.report.run import Run
from blox.report.sweep_figures import sweep_figure
from blox.report.sweep_points import Layout, Points, marked_settings
from blox.results.comparison import Comparison
from blox.results.files import write_text
from blox.results.result import Result

SHOWN = ("avg_jct_s", "p95_jct_s", "avg_responsiveness_s", "utilisation")

Row = tuple[dict[str, str], Result]  # what the settings that vary are called, the run


def points_of(grid: Grid, outcomes: Sequence[Outcome]) -> Points:
    """The finished runs of a sweep where its pictures have them."""
    layout = Layout.of(grid, [outcome.task.experiment for outcome in outcomes])
    found = {outcome.task.experiment: outcome.result for outcome in outcomes if outcome.result is not None}
    opened = {outcome.task.experiment: outcome.opened() for outcome in outcomes}
    tables = {experiment: result for experiment, result in opened.items() if result is not None}
    return Points.of(layout, found, tables)


def shown_measures(points: Points) -> list[measures.Measure]:
    """The measures that are drawn: the common ones, the longest waits, and those of one's own."""
    common = [measure for measure in measures.TERMINAL if measure.key in SHOWN]
    return [*common, WAITING[0], *own_measures([run for runs in points.runs.values() for run in runs])]


def write_sweep_report(
    path: Path,
    grid: Grid,
    outcomes: Sequence[Outcome],
    points: Points,
    title: str = "blox sweep",
    baseline: str | None = None,
) -> None:
    """Writes the page to `path`: whole, or not at all. Runs that differ only in their seed are one point."""
    varying = grid.varying()
    names = grid.names([outcome.task.experiment for outcome in outcomes])
    rows: list[Row] = []
    for outcome in outcomes:
        if outcome.result is not None:
            told = {name: names[name][setting_of(outcome.task.experiment, name)] for name in varying}
            rows.append((marked_settings(told, outcome.result), outcome.result))
    layout, against = points.layout, points.layout.line_called(baseline)
    swept = ", ".join(f"{len({s[name] for s, _ in rows})} values of {name}" for name in varying)
    price = f"{len(rows)} of {len(outcomes)} runs finished: {swept or 'one experiment'}."
    price = f"{price} {jobs_told(points.compared)} {certainty(points.compared)}"
    note = " Bars are 95 % intervals." if points.compared.basis.enough else ""
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
    claim = _claim(points.sets(), layout.across or "the sweep")
    write_text(path, document(title, claim, price, [*parts, table]))


def _claim(sets: Sequence[tuple[Sequence[str], Comparison[Run]]], across: str) -> str:
    """Which lines have the shortest average JCT, and where; all that share it, or may, are named.

    `sets`: the lines at each value, and their runs.
    """
    wins: dict[tuple[str, ...], int] = {}
    same = undecided = untested = 0
    for lines, every in sets:
        names, runs = [lines[at] for at in every.comparable], every.subset(every.comparable)
        values = [measures.AVG_JCT.of(run) for run in runs]
        known = [value for value in values if math.isfinite(value)]
        if len(known) < 2:
            continue
        least = min(known)
        if all(math.isclose(value, least, rel_tol=1e-9) for value in known):
            same += 1
            continue
        leaders = sorted(runs.leaders(measures.AVG_JCT.key, measures.AVG_JCT.better))
        if not runs.basis.enough:
            untested += 1
            leaders = [at for at, value in enumerate(values) if math.isclose(value, least, rel_tol=1e-9)]
        if len(leaders) == len(known):
            undecided += 1
        else:
            won = tuple(names[at] for at in leaders)
            wins[won] = wins.get(won, 0) + 1
    if same == len(sets) > 0:
        return f"No difference in average JCT at any value of {across}"
    if undecided and not wins:
        return f"Average JCT: the lines are not distinguishable at any value of {across}"
    if not wins:
        return f"Average JCT against {across}"
    best = max(wins, key=wins.__getitem__)
    where = "everywhere" if wins[best] == len(sets) else f"at {wins[best]} of {len(sets)} values of {across}"
    equal = f"; no difference at {same}" if same else ""
    doubtful = f"; not distinguishable at {undecided}" if undecided else ""
    alone = "; one run of each, not tested" if untested else ""
    names_won = " and ".join(filter(None, (", ".join(best[:-1]), best[-1])))
    verb = "have" if len(best) > 1 else "has"
    return f"{names_won} {verb} the shortest average JCT {where}{equal}{doubtful}{alone}"


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
    return scrolled(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
