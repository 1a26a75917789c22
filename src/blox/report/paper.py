"""Drawing on paper with matplotlib (the extra `plot`): style, figures with room for a legend, files."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from blox.disk.whole_file import write_whole
from blox.extras import from_extra
from blox.report import colours
from blox.report.labels import legend_shape

_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.7,
    "axes.edgecolor": "#8a939c",
    "xtick.color": "#3c444c",
    "ytick.color": "#3c444c",
    "legend.frameon": False,
    "svg.hashsalt": "blox",  # the same picture gives the same bytes
    "pdf.fonttype": 42,
}
WIDE, SQUARE = (7.0, 2.8), (5.2, 3.4)  # inches: a page's width, and a column's; a legend adds to the height
WHISKERS = {"capsize": 2.5, "elinewidth": 1.0, "alpha": 0.8}  # of a spread, as an error bar
_CHARACTERS_PER_INCH = 12  # of a legend in 10 point
_LEGEND_LINE = 0.21  # inches


@contextmanager
def on_paper() -> Iterator[None]:
    """The style of every picture; BloxError where matplotlib is missing."""
    matplotlib = from_extra("matplotlib", "plot", "a picture")
    with matplotlib.rc_context(_STYLE):
        yield


def new_figure(
    size: tuple[float, float], names: Sequence[str] = (), panels: int = 1
) -> tuple[Any, list[Any]]:
    """A figure of `size` inches, room for its legend added, and its axes, one above the other.

    Made outside pyplot, which would keep it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=with_legend(size, names), layout="constrained")
    return figure, list(figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0])


def stacked(sizes: Sequence[tuple[float, float]]) -> tuple[Any, list[Any]]:
    """A figure of panels of these sizes in inches, one above the other, each with axes of its own."""
    from matplotlib.figure import Figure

    heights = [height for _, height in sizes]
    figure = Figure(figsize=(max(width for width, _ in sizes), sum(heights)), layout="constrained")
    grid = figure.subplots(len(sizes), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    return figure, list(grid[:, 0])


def with_legend(size: tuple[float, float], names: Sequence[str]) -> tuple[float, float]:
    """The size with room for a legend of these names above the axes."""
    width, height = size
    return width, height + _LEGEND_LINE * legend_shape(names, int(width * _CHARACTERS_PER_INCH))[1]


def legend(axes: Any, names: Sequence[str]) -> None:
    """Above the axes, where it hides nothing."""
    if axes.get_legend_handles_labels()[0]:
        columns, _ = legend_shape(names, int(axes.figure.get_figwidth() * _CHARACTERS_PER_INCH))
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, handlelength=2.4)


def title(axes: Any, text: str, names: Sequence[str]) -> None:
    """Above the legend of these names."""
    lines = legend_shape(names, int(axes.figure.get_figwidth() * _CHARACTERS_PER_INCH))[1] if names else 0
    pad = 6 + 72 * _LEGEND_LINE * lines
    axes.set_title(text, loc="left", fontsize=10, fontweight="bold", pad=pad)


def line_style(position: int) -> dict[str, Any]:
    """The colour, dash and width of the line at this position."""
    style = _DASHES[colours.dash_of_run(position)]
    return {
        "color": colours.of_run(position),
        "linestyle": style,
        "linewidth": colours.width_of_run(position),
    }


def bar_style(position: int) -> dict[str, Any]:
    """How the bars of the run at this position are filled."""
    hatch = 3 * colours.pattern_of_run(position)  # dense enough for narrow bars
    return {"color": colours.of_run(position), "hatch": hatch, "edgecolor": "white", "linewidth": 0.3}


def save(figure: Any, path: Path) -> Path:
    """Writes a figure in the form that its name ends in; the same figure gives the same bytes."""
    kind = path.suffix.removeprefix(".")
    metadata = {"Date": None} if kind == "svg" else {"CreationDate": None} if kind == "pdf" else {}
    content = io.BytesIO()
    figure.savefig(content, format=kind, dpi=200, bbox_inches="tight", metadata=metadata)
    write_whole(path, content.getvalue())
    return path
