"""Pictures of a few numbers: lines, bars and spans of time. Each is plain data that is kept as JSON.

A picture draws itself twice: `interactive()` for the page (plotly) and `draw(axes)` for paper (matplotlib).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blox.report import paper
from blox.report.charts.bars import Bar, Bars
from blox.report.charts.lines import Chart, Line
from blox.report.charts.spans import Spans

__all__ = ["Bar", "Bars", "Chart", "Line", "Picture", "Spans", "save_charts"]

Picture = Chart | Bars | Spans


def save_charts(charts: Sequence[Picture], stem: Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Draws the charts on paper, one above the other, as `stem`.png and so on.

    Raises BloxError where matplotlib is missing.
    """
    with paper.on_paper():
        figure, panels = paper.stacked([chart.size for chart in charts])
        for axes, chart in zip(panels, charts):
            chart.draw(axes)
            paper.legend(axes, chart.names)
            if chart.title:
                paper.title(axes, chart.title, chart.names)
        return [paper.save(figure, stem.with_suffix(f".{kind}")) for kind in formats]
