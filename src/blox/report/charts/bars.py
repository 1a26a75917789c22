"""Bars in groups, with their spread: what a figure draws over names instead of numbers."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec
import numpy as np

from blox.report import figure_style, paper
from blox.report.charts.lines import reach

_BAND = 0.8  # of the room of a group that its bars take


class Bar(msgspec.Struct, frozen=True, omit_defaults=True):
    """The bars of one name, one in each group. `low` and `high` bound their spread, where they have one."""

    name: str
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


class Bars(msgspec.Struct, frozen=True, tag="bars", omit_defaults=True):
    """Groups of bars side by side, a colour and pattern for each name."""

    groups: tuple[str, ...]
    y_title: str
    bars: tuple[Bar, ...]
    title: str = ""
    one: bool = False  # whether a line at 1 shows the baseline

    @property
    def names(self) -> list[str]:
        return [bar.name for bar in self.bars] if len(self.bars) > 1 else []

    @property
    def size(self) -> tuple[float, float]:
        width = max(paper.SQUARE[0], 1.0 + 0.16 * (len(self.bars) + 1) * len(self.groups))
        return paper.with_legend((width, paper.SQUARE[1]), self.names)

    def interactive(self) -> Any:
        """The bars as a plotly figure for the page."""
        figure = figure_style.empty(height=400)
        for position, bar in enumerate(self.bars):
            figure.add_bar(
                x=[escape(group) for group in self.groups],
                y=list(bar.y),
                name=escape(bar.name),
                marker=figure_style.bar_marker(position),
                error_y=figure_style.reach(*reach(bar.y, bar.low, bar.high)),
                hovertemplate=f"{escape(bar.name)}<br>%{{x}}: %{{y:,.4g}}<extra></extra>",
            )
        figure.update_layout(barmode="group", bargap=0.25, bargroupgap=0.05, showlegend=bool(self.names))
        figure.update_xaxes(type="category", automargin=True)
        figure.update_yaxes(title_text=escape(self.y_title), rangemode="tozero")
        return figure

    def draw(self, axes: Any) -> None:
        """The same with matplotlib."""
        at, width = np.arange(len(self.groups)), _BAND / max(len(self.bars), 1)
        for position, bar in enumerate(self.bars):
            left = at - _BAND / 2 + (position + 0.5) * width
            axes.bar(left, bar.y, 0.94 * width, label=bar.name, **paper.bar_style(position))
            if bar.low:
                axes.errorbar(
                    left,
                    bar.y,
                    yerr=reach(bar.y, bar.low, bar.high),
                    fmt="none",
                    ecolor="#3c444c",
                    **paper.WHISKERS,
                )
        axes.set_xticks(at, self.groups)
        if sum(map(len, self.groups)) > 9 * self.size[0]:
            for label in axes.get_xticklabels():
                label.set(rotation=20, ha="right", rotation_mode="anchor")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(bottom=0)
        if self.one:
            axes.axhline(1.0, color="#8a939c", linewidth=0.8, linestyle=":", zorder=0)
        axes.set_ylabel(self.y_title)
