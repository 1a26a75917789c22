"""The pictures of a sweep for its page: lines over numbers, bars over names, the legend beside them."""

from __future__ import annotations

from html import escape
from typing import Any

from blox.report import colours, figure_style, units
from blox.report.labels import short_lines
from blox.report.measures import Measure
from blox.report.sweep_points import Points
from blox.results.statistics import Interval

_MOST_BESIDE = 3  # panels in a row
_TICK = 14  # characters of a tick's name in a line
_MOST_TICKS = 10  # values of a number that all have their tick


def sweep_figure(points: Points, measure: Measure, baseline: int | None = None) -> Any:
    """A measure over the sweep, a panel for each workload or cluster; with `baseline`, relative to that line.

    Values are joined by lines where the axis has numbers; between names there is nothing, so they are bars.
    """
    from plotly.subplots import make_subplots

    layout = points.layout
    rows, columns = panel_grid(len(layout.panels))
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[escape(name) for name in layout.panels] if len(layout.panels) > 1 else None,
        horizontal_spacing=0.07,
        vertical_spacing=0.3 / rows,
    )
    scale, suffix = (1.0, "x") if baseline is not None else scaling(points, measure)
    as_lines = layout.numeric and baseline is None
    for panel in range(len(layout.panels)):
        for line in range(len(layout.lines)):
            found = values(points, measure, panel, line, baseline)
            if any(value is not None for value in found):
                trace = _trace(points, line, found, scale, suffix, as_lines)
                trace["showlegend"] = _first_panel(points, line) == panel
                figure.add_trace(trace, row=panel // columns + 1, col=panel % columns + 1)
    figure.update_layout(figure_style.layout(80 + 270 * rows))
    figure.update_layout(
        legend={"orientation": "v", "x": 1.01, "y": 1, "xanchor": "left", "yanchor": "top"},
        barmode="group",
        bargap=0.25,
        margin_t=36,
        showlegend=len(layout.lines) > 1,
    )
    figure.update_xaxes(**figure_style.AXIS)
    for panel in range(max(len(layout.panels) - columns, 0), len(layout.panels)):  # the last in their column
        place = {"row": panel // columns + 1, "col": panel % columns + 1}
        figure.update_xaxes(title_text=escape(layout.axis_title), **place)
    if not as_lines:
        figure.update_xaxes(type="category", showgrid=False)
    elif len(layout.ticks) <= _MOST_TICKS:
        figure.update_xaxes(tickvals=[float(value) for value in layout.values], ticktext=list(layout.ticks))
    figure.update_yaxes(**figure_style.AXIS, rangemode="tozero")
    figure.update_yaxes(title_text=escape(y_title(points, suffix, baseline)), col=1)
    if baseline is not None:
        figure.add_hline(y=1.0, line={"color": "rgba(128,128,128,0.8)", "width": 1, "dash": "dot"})
    return figure


def panel_grid(panels: int) -> tuple[int, int]:
    """Rows and columns of so many panels."""
    columns = 2 if panels == 4 else min(panels, _MOST_BESIDE)
    return -(-panels // columns), columns


def values(
    points: Points, measure: Measure, panel: int, line: int, baseline: int | None
) -> list[Interval | None]:
    """The values of one line in one panel, in order of the ticks."""
    places = [(panel, line, position) for position in range(len(points.layout.ticks))]
    if baseline is None:
        return [points.at(place, measure) for place in places]
    return [points.against(place, baseline, measure) for place in places]


def scaling(points: Points, measure: Measure) -> tuple[float, str]:
    """What values are divided by, and the unit they have then: one for all panels."""
    if measure.kind == "seconds":
        found = [point.estimate for place in points.runs if (point := points.at(place, measure)) is not None]
        unit = units.column_unit(found)
        return unit.seconds, unit.name
    return (0.01, "%") if measure.kind == "share" else (1.0, "")


def y_title(points: Points, suffix: str, baseline: int | None) -> str:
    if baseline is None:
        return suffix
    return f"relative to {points.layout.lines[baseline]}"


def _trace(
    points: Points, line: int, found: list[Interval | None], scale: float, suffix: str, as_lines: bool
) -> dict[str, Any]:
    layout = points.layout
    known = [at for at, value in enumerate(found) if value is not None]
    there = [value for value in found if value is not None]
    name, colour = escape(layout.lines[line]), colours.of_run(line)
    dodge = points.dodge(line) if as_lines else 0.0
    ticks = [float(layout.values[at]) + dodge if as_lines else _tick(layout.ticks[at]) for at in known]
    trace: dict[str, Any] = {
        "x": ticks,
        "y": [value.estimate / scale for value in there],
        "name": name,
        "legendgroup": name,
        "error_y": {
            "type": "data",
            "array": [(value.high - value.estimate) / scale for value in there],
            "arrayminus": [(value.estimate - value.low) / scale for value in there],
            "visible": any(value.high > value.low for value in there),
            "thickness": 1.2,
            "width": 4,
        },
        "customdata": [_tick(layout.ticks[at]) for at in known],
        "hovertemplate": f"{name}<br>%{{customdata}}: %{{y:,.4g}} {suffix}<extra></extra>",
    }
    if as_lines:
        style = {"color": colour, "dash": colours.dash_of_run(line), "width": 2}
        return {**trace, "type": "scatter", "mode": "lines+markers", "line": style}
    return {**trace, "type": "bar", "marker": figure_style.bar_marker(line)}


def _tick(name: str) -> str:
    return "<br>".join(escape(line) for line in short_lines(name, _TICK))


def _first_panel(points: Points, line: int) -> int:
    """The panel in which a line is named: the first that it is in."""
    return min(panel for panel, each, _ in points.runs if each == line)
