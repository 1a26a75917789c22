"""The pictures as interactive plotly figures, one function each, for one run or several.

A figure carries its data and its axes; title and caption are the page's. Colours of text and ground are
left to the page (light or dark), those of the runs are the same in every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from blox.report import colours, series, units
from blox.report.figure_style import (
    at_the_side,
    empty,
    legend_px,
    names_in_html,
    rows_px,
    run_line,
    single,
)
from blox.report.measures import Measure
from blox.report.run import Array, Run
from blox.results.comparison import Comparison


def averages(runs: Sequence[Run], measure: Measure) -> Any:
    """A measure of each run as a point, its 95 % interval as a bar; least on top."""
    compared = Comparison.of(runs)
    names, values = names_in_html(runs), [measure.of(run) for run in runs]
    rows = at_the_side(runs)
    unit = units.column_unit(values)
    figure = empty(height=110 + rows_px(rows, 34))
    order = sorted(range(len(runs)), key=lambda position: (-values[position], position))
    for position in order:  # plotly draws from below
        value, interval = values[position], compared.interval(position, measure.key)
        low, high = (interval.low, interval.high) if interval is not None else (value, value)
        between = f"<br>95 %: {units.duration(low)} to {units.duration(high)}" if interval is not None else ""
        figure.add_scatter(
            x=[value / unit.seconds],
            y=[rows[position]],
            error_x={
                "type": "data",
                "array": [(high - value) / unit.seconds],
                "arrayminus": [(value - cut_at_zero(low, value)) / unit.seconds],
                "visible": interval is not None,
                "thickness": 2,
                "width": 6,
            },
            mode="markers",
            marker={"size": 10, "color": colours.of_run(position)},
            hovertext=f"{names[position]}: {units.duration(value)}{between}",
            hoverinfo="text",
            showlegend=False,
        )
    title = f"{measure.name} {measure.group} ({unit.name})"
    figure.update_xaxes(title_text=title, rangemode="tozero")
    figure.update_yaxes(automargin=True, type="category")
    return figure


def cut_at_zero(low: float, value: float) -> float:
    """Where the bar of an interval is drawn from: not below 0, for a figure that is not below it either."""
    return max(low, 0.0) if value >= 0 else low


def jct_cdf(runs: Sequence[Run]) -> Any:
    """The distribution of job completion times, time on a logarithmic axis."""
    return _cdf(runs, "jct_s", "job completion time")


def responsiveness_cdf(runs: Sequence[Run]) -> Any:
    """The distribution of the time from submission to first start; what is under 1 s is drawn at 1 s."""
    return _cdf(runs, "responsiveness_s", "time from submission to first start")


def rho_cdf(runs: Sequence[Run], *, apps: bool = False) -> Any:
    """The distribution of finish-time fairness: JCT over that of an equal part of the cluster."""
    figure = empty(height=360 + legend_px(runs, 72))
    whose = "apps" if apps else "jobs"
    for position, (run, name) in enumerate(zip(runs, names_in_html(runs))):
        found = series.cdf(series.app_rho(run) if apps else series.tracked(run, "rho"))
        if len(found.value):
            figure.add_scatter(
                x=single(np.insert(found.value, 0, found.value[0])),
                y=single(100 * np.insert(found.share, 0, 0.0)),
                name=name,
                mode="lines",
                line=run_line(position, shape="hv"),
                hovertemplate=f"%{{y:.1f}} % of {whose}: "
                "rho at most %{x:.3f}<extra>%{fullData.name}</extra>",
            )
    ticks = [digit * 10.0**power for power in range(-3, 6) for digit in (1, 2, 5)]
    figure.update_xaxes(title_text="rho (1: as with an equal part)", type="log", tickformat="~g")
    figure.update_xaxes(tickvals=ticks)  # plain numbers: left of 1 a bare digit would read as a larger one
    figure.update_yaxes(title_text=f"{whose} (%)", range=[0, 102])
    return figure


def utilisation(runs: Sequence[Run]) -> Any:
    """GPUs in use over time, per cent of the cluster."""
    figure = _over_time(runs, series.utilisation, "GPUs in use", "%", ".1f")
    figure.update_yaxes(range=[0, 104])
    return figure


def queue(runs: Sequence[Run]) -> Any:
    """Jobs waiting over time, held by admission or queued."""
    return _over_time(runs, series.queue, "jobs waiting", "", ",.0f")


def fragmentation(runs: Sequence[Run]) -> Any:
    """Free GPUs on partly used nodes over time, per cent of the free GPUs."""
    figure = _over_time(runs, series.fragmentation, "fragmentation", "%", ".1f")
    figure.update_yaxes(range=[0, 104])
    return figure


def served_in(runs: Sequence[Run], levels: Sequence[series.Level]) -> Any:
    """What one tenant was given in every run, per cent of its fair part: one of several small panels."""
    figure = small(height=200)
    add_levels(figure, levels, names_in_html(runs), "%", ".0f")
    figure.update_yaxes(rangemode="tozero", ticksuffix=" %")
    figure.add_hline(y=100, line={"width": 1, "color": "rgba(128,128,128,0.7)", "dash": "dot"})
    return figure


def small(height: int) -> Any:
    """A figure without data or legend for a grid of such, whose titles and legend are the page's."""
    figure = empty(height)
    figure.update_layout(showlegend=False, margin={"l": 44, "r": 8, "t": 6, "b": 36}, font_size=12)
    return figure


def tenants(runs: Sequence[Run]) -> Any:
    """How even tenants were served over time, of runs that have several: 100 % where all are alike."""
    figure = _over_time(runs, series.tenants, "evenness between tenants", "%", ".1f")
    figure.update_yaxes(range=[0, 104])
    return figure


def served(run: Run) -> Any:
    """What each of the largest tenants was given over time, per cent of its fair part."""
    found = series.served(run)
    figure = empty(height=310 + 20 * len(found))
    add_levels(figure, list(found.values()), [escape(name) for name in found], "%", ".0f")
    figure.update_yaxes(title_text="given, of its fair part (%)", rangemode="tozero")
    return figure


def waiting(runs: Sequence[Run]) -> Any:
    """Time that jobs waited in all, a bar per run, stacked by cause."""
    totals = [series.waiting(run) for run in runs]
    sums = [sum(total.values()) for total in totals]
    unit = units.column_unit([max(sums, default=0.0)])
    names, rows = names_in_html(runs), at_the_side(runs)
    causes = series.causes(runs)
    # In a narrow window the legend has a line for each cause.
    figure = empty(height=110 + 20 * len(causes) + rows_px(rows, 44))
    for cause in causes:
        seconds = [total.get(cause, 0.0) for total in totals]
        hover = [
            f"{name}: {cause} {units.duration(part)}, {100 * part / (whole or 1.0):.1f} % of its waiting"
            for name, part, whole in zip(names, seconds, sums)
        ]
        figure.add_bar(
            orientation="h",
            x=[value / unit.seconds for value in seconds],
            y=rows,
            name=cause,
            marker={"color": colours.CAUSES[cause], "line": {"width": 0}},
            hovertext=hover,
            hoverinfo="text",
        )
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    figure.update_xaxes(title_text=f"waiting, all jobs together ({unit.name})", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False, automargin=True, type="category")
    return figure


def _cdf(runs: Sequence[Run], column: str, title: str) -> Any:
    figure = empty(height=360 + legend_px(runs, 72))
    low, high = np.inf, 1.0
    for position, (run, name) in enumerate(zip(runs, names_in_html(runs))):
        found = series.cdf(series.tracked(run, column))
        if len(found.value) == 0:
            continue
        value = np.maximum(found.value, 1.0)  # a logarithmic axis has no place for 0
        low, high = min(low, float(value[0])), max(high, float(value[-1]))
        band = series.cdf_band(run, column) if len(runs) <= series.MOST_INTERVALS else None
        if band is not None:
            at = np.maximum(band.value, 1.0)
            figure.add_scatter(**_band(at, 100 * band.low, 100 * band.high, position, name))
        figure.add_scatter(
            x=single(np.insert(value, 0, value[0])),
            y=single(100 * np.insert(found.share, 0, 0.0)),
            name=name,
            mode="lines",
            legendgroup=name,
            line=run_line(position, shape="hv"),
            text=[units.duration(seconds) for seconds in np.insert(found.value, 0, found.value[0]).tolist()],
            hovertemplate="%{y:.1f} % of jobs: at most %{text}<extra>%{fullData.name}</extra>",
        )
    low = min(low, high)
    ticks = units.log_ticks(low / 1.5, high * 1.5)
    figure.update_xaxes(
        title_text=title,
        type="log",
        range=[np.log10(low / 1.15), np.log10(high * 1.15)],
        tickvals=[seconds for seconds, _ in ticks],
        ticktext=[text for _, text in ticks],
    )
    figure.update_yaxes(title_text="jobs (%)", range=[0, 102])
    return figure


def _over_time(
    runs: Sequence[Run], of: Callable[[Run], series.Level], title: str, suffix: str, number_format: str
) -> Any:
    figure = empty(height=310 + legend_px(runs, 150))
    add_levels(figure, [of(run) for run in runs], names_in_html(runs), suffix, number_format)
    figure.update_yaxes(title_text=f"{title} (%)" if suffix == "%" else title, rangemode="tozero")
    return figure


def add_levels(
    figure: Any, levels: Sequence[series.Level], names: Sequence[str], suffix: str, number_format: str
) -> None:
    """Draws levels over one axis of time, which follows the other axes of time on the page."""
    unit = units.axis_unit(max((float(found.time[-1]) for found in levels if len(found.time)), default=0.0))
    ending = f" {suffix}" if suffix else ""
    for position, (found, name) in enumerate(zip(levels, names)):
        time = found.time / unit.seconds
        said = f"%{{y:{number_format}}}{ending} at %{{x:.1f}} {unit.name}"
        bounds = None
        if found.low is not None and found.high is not None:
            if len(levels) <= found.most_bands:
                figure.add_scatter(**_band(time, found.low, found.high, position, name))
            low, high = (f"%{{customdata[{at}]:{number_format}}}" for at in (0, 1))
            between = "between" if found.seeds == 1 else "95 %:"
            said = f"mean {said}<br>{between} {low} and {high}{ending}"
            bounds = np.column_stack((single(found.low), single(found.high)))
        figure.add_scatter(
            x=single(time),
            y=single(found.value),
            customdata=bounds,
            name=name,
            legendgroup=name,
            mode="lines",
            line=run_line(position, shape="linear" if found.low is not None else "hv"),
            hovertemplate=said + "<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title_text=f"time ({unit.name})", rangemode="tozero")
    figure.update_yaxes(fixedrange=True)  # dragging selects a range of time
    figure.update_layout(meta={"time_s": unit.seconds})


def _band(time: Array, low: Array, high: Array, position: int, name: str) -> dict[str, Any]:
    """The area between least and greatest value, switched on and off with its line."""
    known = np.isfinite(low) & np.isfinite(high)
    time, low, high = time[known], low[known], high[known]
    return {
        "x": single(np.concatenate((time, time[::-1]))),
        "y": single(np.concatenate((high, low[::-1]))),
        "fill": "toself",
        "fillcolor": colours.faint(colours.of_run(position), 0.13),
        "line": {"width": 0},
        "mode": "lines",
        "name": name,
        "legendgroup": name,
        "showlegend": False,
        "hoverinfo": "skip",
    }
