"""Spans of time in rows: which of several things was the case when."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec

from blox.report import colours, figure_style, paper, units

Span = tuple[float, float]


class Spans(msgspec.Struct, frozen=True, tag="spans", omit_defaults=True):
    """A row per name, a bar for each of its spans (start and end in seconds), from `start_s` to `end_s`.

    `kinds`: a number for each row; rows of one kind have one colour. Empty: every row is of its own kind.
    """

    rows: tuple[str, ...]
    spans: tuple[tuple[Span, ...], ...]
    end_s: float
    start_s: float = 0.0
    title: str = ""
    kinds: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """None: rows say their own."""
        return []

    @property
    def size(self) -> tuple[float, float]:
        return paper.WIDE[0], 1.1 + 0.3 * len(self.rows)

    def interactive(self) -> Any:
        """The rows as a plotly figure for the page; the first on top."""
        unit = units.column_unit([self.end_s])
        figure = figure_style.empty(height=120 + 26 * len(self.rows))
        for at, (name, found) in enumerate(zip(self.rows, self.spans)):
            bars = found or ((self.start_s, self.start_s),)  # keeps its row
            figure.add_bar(
                y=[escape(name)] * len(bars),
                base=[start / unit.seconds for start, _ in bars],
                x=[(end - start) / unit.seconds for start, end in bars],
                orientation="h",
                marker={"color": self._colour(at), "line": {"width": 0}},
                hovertext=[f"{units.duration(start)} to {units.duration(end)}" for start, end in bars],
                hoverinfo="text+y",
                showlegend=False,
            )
        figure.update_layout(barmode="overlay", bargap=0.25, meta={"time_s": unit.seconds})
        shown = [self.start_s / unit.seconds, self.end_s / unit.seconds]
        figure.update_xaxes(title_text=f"time ({unit.name})", range=shown)
        figure.update_yaxes(autorange="reversed", automargin=True, type="category")
        return figure

    def _colour(self, row: int) -> str:
        return colours.of_run(self.kinds[row] if self.kinds else row)

    def draw(self, axes: Any) -> None:
        """The same with matplotlib."""
        unit = units.column_unit([self.end_s])
        for at, found in enumerate(self.spans):
            bars = [(start / unit.seconds, (end - start) / unit.seconds) for start, end in found]
            axes.broken_barh(bars, (at - 0.35, 0.7), color=self._colour(at), linewidth=0)
        axes.set_yticks(range(len(self.rows)), self.rows)
        axes.set_ylim(len(self.rows) - 0.5, -0.5)
        axes.set_xlim(self.start_s / unit.seconds, self.end_s / unit.seconds)
        axes.set_xlabel(f"time ({unit.name})")
