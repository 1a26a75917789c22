"""The pictures of a sweep on paper: PDF and SVG, bars with their intervals, also relative to a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blox.report import paper
from blox.report.labels import short_lines
from blox.report.measures import Measure
from blox.report.sweep_figures import panel_grid, scaling, values, y_title
from blox.report.sweep_points import Points

_PANEL = (2.6, 2.4)  # inches
_TICK = 12  # characters of a tick's name in a line


def save_sweep_pictures(
    folder: Path,
    points: Points,
    shown: Sequence[Measure],
    baseline: int = 0,
    formats: Sequence[str] = ("pdf", "svg"),
) -> list[Path]:
    """Draws every measure, as `KEY.pdf` and so on, and relative to a line, as `KEY_relative.pdf`.

    Raises BloxError where matplotlib is missing.
    """
    written = []
    with paper.on_paper():
        folder.mkdir(parents=True, exist_ok=True)
        for measure in shown:
            relative = [baseline] if len(points.layout.lines) > 1 else []
            for against in (None, *relative):
                stem = f"{_file_name(measure.key)}{'' if against is None else '_relative'}"
                figure = _figure(points, measure, against)
                for kind in formats:
                    written.append(paper.save(figure, folder / f"{stem}.{kind}"))
    return written


def _figure(points: Points, measure: Measure, baseline: int | None) -> Any:
    from matplotlib.figure import Figure

    layout = points.layout
    rows, columns = panel_grid(len(layout.panels))
    named = max(len(line) for tick in layout.ticks for line in short_lines(tick, _TICK))
    each = max(0.11 * (len(layout.lines) + 1.5), 0.0 if layout.numeric else 0.09 * named)
    wide = max(_PANEL[0], 0.5 + each * len(layout.ticks))
    longest = max(map(len, layout.lines), default=0)
    size = (wide * columns + 0.5 + 0.085 * longest, _PANEL[1] * rows + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    scale, suffix = (1.0, "") if baseline is not None else scaling(points, measure)
    title = y_title(points, _words(measure, suffix), baseline)
    for panel, axes in enumerate(grid):
        if panel >= len(layout.panels):
            axes.set_visible(False)
            continue
        if layout.numeric and baseline is None:
            _lines(axes, points, measure, panel, scale)
        else:
            _bars(axes, points, measure, panel, scale, baseline)
        axes.set_title(layout.panels[panel], loc="left", fontsize=9)
        axes.set_ylim(bottom=0)
        if panel + columns >= len(layout.panels):  # the last in its column
            axes.set_xlabel(layout.axis_title)
        if panel % columns == 0:
            axes.set_ylabel(title if baseline is None else f"{_words(measure, '')}\n{title}")
    handles = {name: mark for axes in grid for mark, name in zip(*axes.get_legend_handles_labels())}
    if len(layout.lines) > 1:
        figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize=9)
    return figure


def _lines(axes: Any, points: Points, measure: Measure, panel: int, scale: float) -> None:
    for line, name in enumerate(points.layout.lines):
        found = values(points, measure, panel, line, None)
        known = [(at, value) for at, value in enumerate(found) if value is not None]
        if known:
            x = [float(points.layout.values[at]) + points.dodge(line) for at, _ in known]
            y = np.array([value.estimate for _, value in known]) / scale
            reach = np.array([(v.estimate - v.low, v.high - v.estimate) for _, v in known]).T / scale
            style = paper.line_style(line) | {"linewidth": 1.3}
            axes.plot(x, y, marker="o", markersize=3, label=name, **style)
            if reach.any():
                colour = style["color"]
                axes.errorbar(x, y, yerr=reach, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2)


def _bars(
    axes: Any, points: Points, measure: Measure, panel: int, scale: float, baseline: int | None
) -> None:
    layout = points.layout
    width = 0.8 / max(len(layout.lines), 1)
    for line, name in enumerate(layout.lines):
        found = values(points, measure, panel, line, baseline)
        known = [(at, value) for at, value in enumerate(found) if value is not None]
        if not known:
            continue
        x = np.array([at for at, _ in known]) + (line - (len(layout.lines) - 1) / 2) * width
        y = np.array([value.estimate for _, value in known]) / scale
        reach = np.array([(v.estimate - v.low, v.high - v.estimate) for _, v in known]).T / scale
        axes.bar(x, y, width, label=name, **paper.bar_style(line))
        if reach.any():
            axes.errorbar(x, y, yerr=reach, fmt="none", ecolor="#333333", elinewidth=0.8, capsize=1.8)
    if baseline is not None:
        axes.axhline(1.0, color="#8a939c", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(layout.ticks)), ["\n".join(short_lines(name, _TICK)) for name in layout.ticks])
    axes.grid(axis="x", visible=False)


def _words(measure: Measure, suffix: str) -> str:
    name = f"{measure.name} {measure.group}".strip()
    return f"{name} ({suffix})" if suffix else name


def _file_name(key: str) -> str:
    return "".join(mark if mark.isalnum() or mark in "-_=." else "-" for mark in key)
