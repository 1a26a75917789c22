"""A breakdown as small multiples: a panel per measure, groups along its axis, runs with their intervals."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from blox.report import colours, figure_style, figures
from blox.report.breakdown import Breakdown
from blox.report.measures import Measure, written_in
from blox.report.units import column_unit

_SCALES = {"share": 100.0}


def panels(found: Breakdown) -> list[tuple[str, Any]]:
    """A title and a figure for each measure that ranks runs and that some group has."""
    return [
        (_title(measure, found), _panel(found, measure))
        for measure in found.measures
        if measure.better and len(_values(found, measure)) > 0
    ]


def _panel(found: Breakdown, measure: Measure) -> Any:
    figure = figures.small(height=230)
    scale = _scale(found, measure)
    _, write = written_in(measure, _values(found, measure))
    for position, name in enumerate(found.names):
        points = [
            (str(row.names[0]), measure.of(row), compared.interval(at, measure.key))
            for compared in found.groups
            for at, row in enumerate(compared)
            if row.names[-1] == name and math.isfinite(measure.of(row))
        ]
        below = [
            0.0 if each is None else scale * (value - figures.cut_at_zero(each.low, value))
            for _, value, each in points
        ]
        above = [0.0 if each is None else scale * (each.high - value) for _, value, each in points]
        told = [
            f"{escape(name)}, {escape(group)}: {write(value)}"
            + ("" if each is None else f"<br>95 %: {write(each.low)} to {write(each.high)}")
            for group, value, each in points
        ]
        figure.add_scatter(
            x=[escape(group) for group, _, _ in points],
            y=[scale * value for _, value, _ in points],
            error_y=figure_style.reach(below, above) if any(below) or any(above) else {"visible": False},
            name=escape(name),
            offsetgroup=str(position),
            mode="markers",
            marker={"size": 7, "color": colours.of_run(position), "symbol": colours.mark_of_run(position)},
            hovertext=told,
            hoverinfo="text",
        )
    order = [escape(str(compared[0].names[0])) for compared in found.groups]
    figure.update_layout(scattermode="group", scattergap=0.3, hovermode="closest")
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=order, title_text=found.named)
    figure.update_yaxes(rangemode="tozero")
    return figure


def _title(measure: Measure, found: Breakdown) -> str:
    unit = written_in(measure, _values(found, measure))[0]
    name = f"{measure.group} {measure.name}".strip()
    return f"{name} ({unit})" if unit else name


def _values(found: Breakdown, measure: Measure) -> list[float]:
    each = (measure.of(row) for compared in found.groups for row in compared)
    return [value for value in each if math.isfinite(value)]


def _scale(found: Breakdown, measure: Measure) -> float:
    """What a value is multiplied by to be in the unit of the title."""
    if measure.kind == "seconds":
        return 1.0 / column_unit(_values(found, measure)).seconds
    return _SCALES.get(measure.kind, 1.0)
