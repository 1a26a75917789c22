"""A chart of lines, drawn for the page and for paper: what a figure of a paper is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from blox.report import colours, figures, static


@dataclass(frozen=True)
class Line:
    """One line of a chart: its name and its points. `like`: in the colour of another line, and dashed."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    like: str = ""


@dataclass(frozen=True)
class Chart:
    """Lines over one axis. `steps`: from point to point in steps, as distributions are drawn."""

    x_title: str
    y_title: str
    lines: Sequence[Line]
    steps: bool = False
    log_x: bool = False

    def colour(self, line: Line) -> str:
        """That of its position, or of the line that it is like."""
        names = [each.name for each in self.lines]
        return colours.of_run(names.index(line.like or line.name))


def interactive(chart: Chart) -> Any:
    """The chart as a plotly figure for the page."""
    figure = figures.empty(height=420)
    for line in chart.lines:
        figure.add_scatter(
            x=list(line.x),
            y=list(line.y),
            name=escape(line.name),
            mode="lines" if chart.steps else "lines+markers",
            line={
                "color": chart.colour(line),
                "dash": "dash" if line.like else "solid",
                "width": 2,
                "shape": "hv" if chart.steps else "linear",
            },
            hovertemplate=f"{escape(line.name)}<br>%{{x:,.4g}}: %{{y:,.4g}}<extra></extra>",
        )
    figure.update_xaxes(title_text=escape(chart.x_title), type="log" if chart.log_x else "linear")
    figure.update_yaxes(title_text=escape(chart.y_title), rangemode="tozero")
    return figure


def save_chart(chart: Chart, stem: Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Draws the chart on paper, as `stem`.png and so on; BloxError where matplotlib is missing."""
    names = [line.name for line in chart.lines]
    with static._paper():
        figure, (axes,) = static._figure(static._SQUARE, names)
        for line in chart.lines:
            style = {"color": chart.colour(line), "linestyle": "--" if line.like else "-", "linewidth": 1.5}
            if chart.steps:
                axes.step(line.x, line.y, where="post", label=line.name, **style)
            else:
                axes.plot(line.x, line.y, marker="o", markersize=3.5, label=line.name, **style)
        if chart.log_x:
            axes.set_xscale("log")
        highest = max((value for line in chart.lines for value in line.y), default=1.0)
        axes.set_ylim(0, 1.05 * highest)
        axes.set_xlabel(chart.x_title)
        axes.set_ylabel(chart.y_title)
        static._legend(axes, names)
        return [static.save(figure, stem.with_suffix(f".{kind}")) for kind in formats]
