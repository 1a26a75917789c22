"""The Gantt view as an interactive plotly figure: which job held which GPU when."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from blox.report import colours, gpu_bars, units
from blox.report.figure_style import AXIS, layout, names_in_html, single
from blox.report.run import Run

_ROW_PX = 9


def gantt(runs: Sequence[Run], window: gpu_bars.GanttWindow) -> Any:
    """Which job held which GPU when: a panel per run over the same GPUs and the same time.

    Numbers in the bars are job ids, where there is room; colours tell neighbouring jobs apart.
    """
    from plotly.subplots import make_subplots

    unit = units.axis_unit(window.end_s - window.start_s)
    panels = max(len(runs), 1)
    panel_px = max(_ROW_PX * window.gpus, 60) + 44
    height = panel_px * panels + 60
    figure = make_subplots(
        rows=panels,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=min(40 / height, 1 / panels),
        subplot_titles=[f"<b>{name}</b>" for name in names_in_html(runs)],
    )
    for position, run in enumerate(runs):
        found = gpu_bars.bars(run, window.gpus).between(window.start_s, window.end_s)
        down = gpu_bars.outages(run, window.gpus).between(window.start_s, window.end_s)
        if len(down):
            figure.add_trace(_down_bars(down, window, unit), row=position + 1, col=1)
        figure.add_trace(_gantt_bars(run, position, found, window, unit), row=position + 1, col=1)
    figure.update_layout(layout(height))
    figure.update_layout(
        barmode="overlay",
        showlegend=False,
        uniformtext={"minsize": 8, "mode": "hide"},
        margin_t=32,
        hovermode="closest",
        meta={"time_s": unit.seconds, "held": [window.start_s, window.end_s]},
    )
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    figure.update_xaxes(**AXIS, range=[window.start_s / unit.seconds, window.end_s / unit.seconds])
    figure.update_yaxes(
        **{**AXIS, "showgrid": False}, title_text="GPU", range=[window.gpus - 0.5, -0.5], dtick=8
    )
    figure.update_xaxes(title_text=f"time ({unit.name})", row=panels, col=1)
    return figure


def _down_bars(down: gpu_bars.Bars, window: gpu_bars.GanttWindow, unit: units.Unit) -> dict[str, Any]:
    """GPUs of nodes that are down, in grey behind the jobs."""
    return {
        **_rectangles(down, window, unit),
        "marker": {"color": colours.DOWN, "line": {"width": 0}, "pattern": {"shape": "/", "solidity": 0.2}},
        "hovertext": [
            f"down for {units.duration(till - begin)}"
            for begin, till in zip(down.start_s.tolist(), down.end_s.tolist())
        ],
        "hoverinfo": "text",
    }


def _gantt_bars(
    run: Run, position: int, found: gpu_bars.Bars, window: gpu_bars.GanttWindow, unit: units.Unit
) -> dict[str, Any]:
    ids = [escape(str(run.jobs["job_id"][row])) for row in found.job.tolist()]
    needs = np.asarray(run.jobs["gpus"])[found.job] if len(found) else found.job
    hover = [
        f"<b>job {name}</b>, {need} GPU{'s' if need > 1 else ''}<br>"
        f"here: GPU {low if count == 1 else f'{low}–{low + count - 1}'}<br>"
        f"{units.number(begin / unit.seconds, 2)} to {units.number(finish / unit.seconds, 2)} {unit.name}"
        f" ({units.duration(finish - begin)})"
        for name, need, low, count, begin, finish in zip(
            ids,
            needs.tolist(),
            found.gpu.tolist(),
            found.gpus.tolist(),
            found.start_s.tolist(),
            found.end_s.tolist(),
        )
    ]
    return {
        **_rectangles(found, window, unit, gap=0.12),
        "text": ids,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"color": "#1a1a1a", "size": 10},
        "marker": {
            "color": [colours.of_job(row) for row in found.job.tolist()],
            "line": {"width": 0.6, "color": "rgba(60,60,60,0.65)"},
        },
        "hovertext": hover,
        "hoverinfo": "text",
        "customdata": found.job.tolist(),  # whose story a click tells
        "meta": {"run": position},
    }


def _rectangles(
    bars: gpu_bars.Bars, window: gpu_bars.GanttWindow, unit: units.Unit, gap: float = 0.0
) -> dict[str, Any]:
    """Where the bars lie within the window, as plotly takes it; `gap`: between neighbours, in GPUs."""
    start = np.maximum(bars.start_s, window.start_s) / unit.seconds
    end = np.minimum(bars.end_s, window.end_s) / unit.seconds
    return {
        "type": "bar",
        "orientation": "h",
        "base": single(start),
        "x": single(end - start),
        "y": single(bars.gpu + (bars.gpus - 1) / 2),
        "width": single(bars.gpus - gap),
    }
