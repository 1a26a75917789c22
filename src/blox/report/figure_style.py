"""What all plotly figures of a page have in common: axes, layout, lines and names of runs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from blox.report import colours
from blox.report.labels import labels, legend_shape, short_lines
from blox.report.run import Array, Run

_SIDE = 18  # characters of a name at the side of a picture
_LINE_PX = 17
_GRID = "rgba(128,128,128,0.22)"


def names_in_html(runs: Sequence[Run]) -> list[str]:
    return [escape(name) for name in labels(runs)]  # plotly reads its texts as a kind of HTML


def rows_px(names: Sequence[str], least: int) -> int:
    """Height of rows that are named at the side by these names, at least so many pixels each."""
    return sum(max(least, 8 + _LINE_PX * (1 + name.count("<br>"))) for name in names)


def at_the_side(runs: Sequence[Run]) -> list[str]:
    """The names for an axis at the side, in short lines: they leave a narrow window to the picture."""
    return ["<br>".join(escape(line) for line in short_lines(name, _SIDE)) for name in labels(runs)]


def legend_px(runs: Sequence[Run], characters: int) -> int:
    """Height of the legend, so that it does not take it from the picture."""
    return 20 * legend_shape(labels(runs), characters)[1]


def single(values: Array) -> Array:
    """Single precision: half the bytes, and far finer than a screen."""
    return np.asarray(values, dtype=np.float32)


def run_line(position: int, shape: str) -> dict[str, Any]:
    return {
        "color": colours.of_run(position),
        "dash": colours.dash_of_run(position),
        "width": colours.width_of_run(position),
        "shape": shape,
    }


def bar_marker(position: int) -> dict[str, Any]:
    """How the bars of a run are filled."""
    pattern = {"shape": colours.pattern_of_run(position)}
    return {"color": colours.of_run(position), "pattern": pattern, "line": {"width": 0}}


AXIS: dict[str, Any] = {
    "gridcolor": _GRID,
    "zeroline": False,
    "linecolor": "rgba(128,128,128,0.6)",
    "ticks": "outside",
    "ticklen": 4,
    "tickcolor": "rgba(128,128,128,0.6)",
    "automargin": True,
    "title_standoff": 8,
}


def layout(height: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 56, "r": 16, "t": 50, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {
            "family": "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif",
            "size": 13,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "hoverlabel": {"align": "left"},
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": "rgba(128,128,128,0.6)",
            "activecolor": "rgba(128,128,128,1)",
        },
    }


def empty(height: int) -> Any:
    """A figure without data in the page's style."""
    import plotly.graph_objects as go

    figure = go.Figure(layout={"template": go.layout.Template(), **layout(height), "showlegend": True})
    figure.update_xaxes(**AXIS)
    figure.update_yaxes(**AXIS)
    return figure


def reach(below: list[float], above: list[float]) -> dict[str, Any]:
    """How far a spread goes below and above each point, as plotly's error bars; none where it is empty."""
    if not below:
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "thickness": 1,
        "width": 4,
    }
