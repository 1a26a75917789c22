"""The report of a sweep: each figure of merit against the setting that was swept, a line per scheduler."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from blox.experiment.parallel import Outcome
from blox.experiment.sweep import Grid, setting_of
from blox.report import colours, figures, measures, units
from blox.report.page import document, embedded, section
from blox.results.files import write_text
from blox.results.result import Result

SHOWN = ("avg_jct_s", "p95_jct_s", "avg_responsiveness_s", "utilisation")
_NUMBERS = ("load", "round_s", "jobs", "speedup", "max_rounds")
_NAMES = {"load": "load (jobs per hour)", "round_s": "round (s)", "avg_jct_s": "average JCT"}

Row = tuple[dict[str, Any], Result]  # the settings that vary, the run


def write_sweep_report(
    path: Path, grid: Grid, outcomes: Sequence[Outcome], title: str = "blox sweep"
) -> None:
    """Writes the page to `path`: whole, or not at all. Runs that differ only in their seed are averaged."""
    varying = grid.varying()
    rows: list[Row] = [
        ({name: setting_of(outcome.task.experiment, name) for name in varying}, outcome.result)
        for outcome in outcomes
        if outcome.result is not None
    ]
    across = next((name for name in _NUMBERS if name in varying), None) or next(iter(varying), "scheduler")
    lines = _lines(rows, across)
    seeds = len({settings.get("seed") for settings, _ in rows})
    swept = ", ".join(f"{len({s[name] for s, _ in rows})} values of {name}" for name in varying)
    price = f"{len(rows)} of {len(outcomes)} runs finished: {swept or 'one experiment'}."
    note = (
        f" Points are means over {seeds} seeds, bars reach from the least to the greatest."
        if seeds > 1
        else ""
    )
    parts = []
    for measure in measures.TERMINAL:
        if measure.key in SHOWN:
            heading = f"{measure.name} {measure.group}".strip().capitalize().replace("jct", "JCT")
            drawn = embedded(measure.key, _figure(lines, measure, across))
            parts.append(section(f"by-{measure.key}", heading, f"By {across}.{note}", drawn))
    table = section("runs", "All runs", "The same figures as in sweep.csv.", _table(rows, varying), long=True)
    claim = _claim(lines, across)
    page = document(title, claim, price, ['<div class="pair">', *parts, "</div>", table])
    write_text(path, page)


def _lines(rows: Sequence[Row], across: str) -> dict[str, dict[Any, list[Result]]]:
    """Runs by line (every setting but the one across and the seed), then by the value across."""
    lines: dict[str, dict[Any, list[Result]]] = {}
    for settings, result in rows:
        rest = [(k, v) for k, v in settings.items() if k not in (across, "seed") and v not in ("", None)]
        name = ", ".join(f"{v}" if isinstance(v, str) else f"{k}={v}" for k, v in rest) or result.label
        lines.setdefault(name, {}).setdefault(settings.get(across, ""), []).append(result)
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


def _figure(lines: dict[str, dict[Any, list[Result]]], measure: measures.Measure, across: str) -> Any:
    values = [measure.of(run) for line in lines.values() for runs in line.values() for run in runs]
    unit = units.column_unit(values)
    scale, suffix = (unit.seconds, unit.name) if measure.kind == "seconds" else (0.01, "%")
    figure = figures.empty(height=330)
    for position, (name, line) in enumerate(lines.items()):
        mean = [_mean(runs, measure) / scale for runs in line.values()]
        low, high = (
            [pick(measure.of(r) for r in runs) / scale for runs in line.values()] for pick in (min, max)
        )
        figure.add_scatter(
            x=[_coordinate(value) for value in line],
            y=mean,
            name=escape(name),
            mode="lines+markers",
            line={"color": colours.of_run(position), "dash": colours.dash_of_run(position), "width": 2},
            error_y={
                "type": "data",
                "array": [top - middle for top, middle in zip(high, mean)],
                "arrayminus": [middle - bottom for bottom, middle in zip(low, mean)],
                "visible": any(top > bottom for top, bottom in zip(high, low)),
                "thickness": 1,
            },
            hovertemplate=f"{escape(name)}<br>{escape(across)} %{{x}}: %{{y:,.4g}} {suffix}<extra></extra>",
        )
    figure.update_xaxes(title_text=_NAMES.get(across, across))
    figure.update_yaxes(title_text=suffix, rangemode="tozero")
    return figure


def _mean(runs: Sequence[Result], measure: measures.Measure) -> float:
    return sum(measure.of(run) for run in runs) / len(runs)


def _coordinate(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


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
        + "".join(f"<td>{escape(str(settings[name]))}</td>" for name in varying)
        + "".join(f"<td>{texts[position]}</td>" for texts in columns)
        + "</tr>"
        for position, (settings, _) in enumerate(rows)
    )
    head = "".join(f"<th>{text}</th>" for text in heads)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
