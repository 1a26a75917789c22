"""A chart of lines: curves with their spread, or distributions in steps."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec

from blox.report import colours, figure_style, paper

Values = tuple[float, ...]


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a chart: its name and its points. `like`: in the colour of another line, and dashed.

    `low` and `high` bound the spread of each point, where it has one.
    """

    name: str
    x: Values
    y: Values
    like: str = ""
    low: Values = ()
    high: Values = ()


def reach(y: Values, low: Values, high: Values) -> tuple[list[float], list[float]]:
    """How far a spread goes below each point, and above; empty where there is none."""
    return [at - least for at, least in zip(y, low)], [most - at for at, most in zip(y, high)]


class Chart(msgspec.Struct, frozen=True, tag="lines", omit_defaults=True):
    """Lines over one axis. `steps`: from point to point in steps, as distributions are drawn."""

    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    steps: bool = False
    log_x: bool = False
    log_y: bool = False
    title: str = ""

    @property
    def names(self) -> list[str]:
        return [line.name for line in self.lines]

    @property
    def size(self) -> tuple[float, float]:
        return paper.with_legend(paper.SQUARE, self.names)

    def colour(self, line: Line) -> str:
        """That of its position, or of the line that it is like."""
        return colours.of_run(self.names.index(line.like or line.name))

    def interactive(self) -> Any:
        """The chart as a plotly figure for the page."""
        figure = figure_style.empty(height=420)
        for line in self.lines:
            figure.add_scatter(
                x=list(line.x),
                y=list(line.y),
                name=escape(line.name),
                mode="lines" if self.steps else "lines+markers",
                line={
                    "color": self.colour(line),
                    "dash": "dash" if line.like else "solid",
                    "width": 2,
                    "shape": "hv" if self.steps else "linear",
                },
                error_y=figure_style.reach(*reach(line.y, line.low, line.high)),
                hovertemplate=f"{escape(line.name)}<br>%{{x:,.4g}}: %{{y:,.4g}}<extra></extra>",
            )
        figure.update_xaxes(title_text=escape(self.x_title), type="log" if self.log_x else "linear")
        figure.update_yaxes(title_text=escape(self.y_title), rangemode="tozero")
        if self.log_y:
            figure.update_yaxes(type="log", rangemode="normal")
        return figure

    def draw(self, axes: Any) -> None:
        """The same with matplotlib."""
        for line in self.lines:
            style = {"color": self.colour(line), "linestyle": "--" if line.like else "-", "linewidth": 1.5}
            if self.steps:
                axes.step(line.x, line.y, where="post", label=line.name, **style)
                continue
            axes.plot(line.x, line.y, marker="o", markersize=3.5, label=line.name, **style)
            if line.low:
                axes.errorbar(
                    line.x,
                    line.y,
                    yerr=reach(line.y, line.low, line.high),
                    fmt="none",
                    **paper.WHISKERS,
                    **style,
                )
        if self.log_x:
            axes.set_xscale("log")
        drawn = [value for line in self.lines for value in (*line.y, *line.low, *line.high)]
        if self.log_y:
            axes.set_yscale("log")
        else:
            axes.set_ylim(1.05 * min([0.0, *drawn]), 1.05 * max([0.0, *drawn]) or 1.0)
        axes.set_xlabel(self.x_title)
        axes.set_ylabel(self.y_title)
