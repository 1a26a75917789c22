"""The pictures on paper: PNG, SVG or PDF files drawn with matplotlib (the extra `plot`)."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blox.disk.whole_file import naming
from blox.errors import BloxError, suggestion
from blox.report import choices, colours, gpu_bars, measures, paper, series, units, words
from blox.report.charts import save_charts
from blox.report.labels import labels
from blox.report.paper_bars import baseline_position, paper_bars
from blox.report.run import Run
from blox.results.comparison import Comparison

_CAPTION = 120  # characters in a line under a picture
FORMATS = ("png", "svg", "pdf")


def save_pictures(
    out_dir: str | Path,
    results: Sequence[Run],
    formats: Sequence[str] = ("pdf", "svg"),
    baseline: str | None = None,
) -> list[Path]:
    """Writes jct_cdf, responsiveness_cdf, rho_cdf, utilisation, queue, waiting, gantt; returns the files.

    Where jobs are grouped into apps there is also app_rho_cdf, where a run chooses among policies choices.
    Bars with 95 % intervals are averages and, of several models, by_model; of several runs also relative to
    the run called `baseline`, or the first: normalised, by_model_normalised. Raises BloxError where
    matplotlib is not installed or a format is not one of png, svg and pdf.
    """
    results = Comparison.of(results)
    baseline_position(results, baseline)
    for name in formats:
        if name not in FORMATS:
            raise BloxError(
                f"pictures cannot be written as {name!r}", where="format", fix=suggestion(name, FORMATS)
            )
    pictures = {
        "jct_cdf": jct_cdf,
        "responsiveness_cdf": responsiveness_cdf,
        "rho_cdf": rho_cdf,
        "utilisation": utilisation,
        "queue": queue,
        "waiting": waiting,
        "gantt": gantt,
        **({"app_rho_cdf": app_rho_cdf} if measures.by_app(results) else {}),
        **({"choices": policies_over_time} if choices.chosen(results) else {}),
    }
    written = []
    with paper.on_paper():
        out_dir = Path(out_dir)
        with naming(out_dir):
            out_dir.mkdir(parents=True, exist_ok=True)
        for name, draw in pictures.items():
            figure = draw(results)
            for kind in formats:
                written.append(paper.save(figure, out_dir / f"{name}.{kind}"))
        for name, charts in paper_bars(results, baseline).items():
            written += save_charts(charts, out_dir / name, formats)
    return written


def jct_cdf(runs: Sequence[Run]) -> Any:
    """The distribution of job completion times, time on a logarithmic axis."""
    return _cdf(runs, "jct_s", "job completion time")


def responsiveness_cdf(runs: Sequence[Run]) -> Any:
    """The distribution of the time from submission to first start; what is under 1 s is drawn at 1 s."""
    return _cdf(runs, "responsiveness_s", "time from submission to first start")


def app_rho_cdf(runs: Sequence[Run]) -> Any:
    """The same of apps."""
    return rho_cdf(runs, apps=True)


def rho_cdf(runs: Sequence[Run], *, apps: bool = False) -> Any:
    """The distribution of finish-time fairness: JCT over that of an equal part of the cluster."""
    figure, (axes,) = paper.new_figure(paper.SQUARE, labels(runs))
    for position, (run, name) in enumerate(zip(runs, labels(runs))):
        found = series.cdf(series.app_rho(run) if apps else series.tracked(run, "rho"))
        if len(found.value):
            value, share = np.insert(found.value, 0, found.value[0]), 100 * np.insert(found.share, 0, 0.0)
            axes.step(value, share, where="post", label=name, **paper.line_style(position))
    axes.set_xscale("log")
    axes.set_ylim(0, 102)
    axes.set_xlabel(series.RHO_AXIS)
    axes.set_ylabel("apps (%)" if apps else "jobs (%)")
    paper.legend(axes, labels(runs))
    return figure


def policies_over_time(runs: Sequence[Run]) -> Any:
    """Which combination of policies ruled when, in the first run that chooses among some."""
    position, reigns = choices.chosen(runs)[0]
    drawn = choices.timeline(reigns, runs[position])
    figure, (axes,) = paper.new_figure(drawn.size)
    drawn.draw(axes)
    return figure


def utilisation(runs: Sequence[Run]) -> Any:
    """GPUs in use over time, per cent of the cluster."""
    return _over_time(runs, series.utilisation, "GPUs in use (%)", top=102)


def queue(runs: Sequence[Run]) -> Any:
    """Jobs waiting over time, held by admission or queued."""
    return _over_time(runs, series.queue, "jobs waiting")


def waiting(runs: Sequence[Run]) -> Any:
    """Time that jobs waited in all, a bar per run, stacked by cause."""
    causes = series.causes(runs)
    figure, (axes,) = paper.new_figure((7.0, 1.1 + 0.38 * len(runs)), causes)
    totals = [series.waiting(run) for run in runs]
    unit = units.column_unit([max((sum(total.values()) for total in totals), default=0.0)])
    left = np.zeros(len(runs))
    for cause in causes:
        width = np.array([total.get(cause, 0.0) for total in totals]) / unit.seconds
        axes.barh(
            np.arange(len(runs)), width, left=left, height=0.62, color=colours.CAUSES[cause], label=cause
        )
        left = left + width
    axes.set_yticks(np.arange(len(runs)), labels(runs))
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"waiting, all jobs together ({unit.name})")
    paper.legend(axes, causes)
    return figure


def gantt(runs: Sequence[Run]) -> Any:
    """Which job held which GPU when: a panel per run over the same GPUs and the same time."""
    from matplotlib.collections import PolyCollection

    every, runs = runs, runs[: gpu_bars.MOST_PANELS]
    window = gpu_bars.gantt_window(runs)
    unit = units.axis_unit(window.end_s - window.start_s)
    panels = max(len(runs), 1)
    figure, grid = paper.new_figure(
        (7.2, max(0.062 * window.gpus, 0.6) * panels + 0.45 * panels + 0.5), panels=panels
    )
    for axes, run, name in zip(grid, runs, labels(runs)):
        found = gpu_bars.bars(run, window.gpus).between(window.start_s, window.end_s)
        left = np.maximum(found.start_s, window.start_s) / unit.seconds
        right = np.minimum(found.end_s, window.end_s) / unit.seconds
        top, bottom = found.gpu - 0.45, found.gpu + found.gpus - 0.55
        corners = np.stack(
            [np.column_stack(pair) for pair in ((left, top), (right, top), (right, bottom), (left, bottom))],
            axis=1,
        )
        down = gpu_bars.outages(run, window.gpus).between(window.start_s, window.end_s)
        for low, count, begin, end in zip(down.gpu, down.gpus, down.start_s, down.end_s):
            width = (min(end, window.end_s) - max(begin, window.start_s)) / unit.seconds
            axes.barh(
                low + (count - 1) / 2, width, left=max(begin, window.start_s) / unit.seconds, height=count,
                color=colours.DOWN, hatch="//", edgecolor="white", linewidth=0, zorder=0,
            )  # fmt: skip
        fill = [colours.of_job(row) for row in found.job.tolist()]
        axes.add_collection(
            PolyCollection(list(corners), facecolors=fill, edgecolors="#555555", linewidths=0.3)
        )
        axes.set_title(name, loc="left", fontsize=10, fontweight="bold", pad=3)
        axes.set_ylabel("GPU")
        axes.set_ylim(max(window.gpus, 1) - 0.5, -0.5)
        axes.set_xlim(window.start_s / unit.seconds, max(window.end_s, window.start_s + 1) / unit.seconds)
        axes.set_yticks(range(0, max(window.gpus, 1), 8))
        axes.grid(visible=False)
    grid[-1].set_xlabel(f"time ({unit.name})")
    caption = textwrap.fill(words.gantt_caption(window, every), _CAPTION)
    figure.text(0.01, -0.005, caption, fontsize=8, color="#5d6670", va="top")
    return figure


def _cdf(runs: Sequence[Run], column: str, title: str) -> Any:
    figure, (axes,) = paper.new_figure(paper.SQUARE, labels(runs))
    low, high = np.inf, 1.0
    for position, (run, name) in enumerate(zip(runs, labels(runs))):
        found = series.cdf(series.tracked(run, column))
        if len(found.value) == 0:
            continue
        value = np.maximum(found.value, 1.0)  # a logarithmic axis has no place for 0
        low, high = min(low, float(value[0])), max(high, float(value[-1]))
        band = series.cdf_band(run, column) if len(runs) <= series.MOST_INTERVALS else None
        if band is not None:
            at, colour = np.maximum(band.value, 1.0), colours.of_run(position)
            axes.fill_between(at, 100 * band.low, 100 * band.high, color=colour, alpha=0.15, linewidth=0)
        axes.step(
            np.insert(value, 0, value[0]),
            100 * np.insert(found.share, 0, 0.0),
            where="post",
            label=name,
            **paper.line_style(position),
        )
    low = min(low, high)
    axes.set_xscale("log")
    axes.set_xlim(low / 1.15, high * 1.15)
    ticks = units.log_ticks(low / 1.15, high * 1.15)
    axes.set_xticks([seconds for seconds, _ in ticks], [text for _, text in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 102)
    axes.set_xlabel(title)
    axes.set_ylabel("jobs (%)")
    paper.legend(axes, labels(runs))
    return figure


def _over_time(
    runs: Sequence[Run], of: Callable[[Run], series.Level], title: str, top: float | None = None
) -> Any:
    figure, (axes,) = paper.new_figure(paper.WIDE, labels(runs))
    levels = [of(run) for run in runs]
    unit = units.axis_unit(max((float(found.time[-1]) for found in levels if len(found.time)), default=0.0))
    for position, (found, name) in enumerate(zip(levels, labels(runs))):
        time = found.time / unit.seconds
        if found.low is None or found.high is None:
            axes.step(time, found.value, where="post", label=name, **paper.line_style(position))
            continue
        axes.plot(time, found.value, label=name, **paper.line_style(position))
        if len(runs) <= found.most_bands:
            colour = colours.of_run(position)
            axes.fill_between(time, found.low, found.high, color=colour, alpha=0.15, linewidth=0)
    axes.set_ylim(0, top)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"time ({unit.name})")
    axes.set_ylabel(title)
    paper.legend(axes, labels(runs))
    return figure
