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
from blox.report.labels import labels, legend_shape
from blox.report.measures import Measure
from blox.report.run import Array, Run
from blox.results.comparison import Comparison

_GRID = "rgba(128,128,128,0.22)"
_GANTT_ROW_PX = 9


def averages(runs: Sequence[Run], measure: Measure) -> Any:
    """A measure of each run as a point, its 95 % interval as a bar; least on top."""
    compared = Comparison.of(runs)
    names, values = _names(runs), [measure.of(run) for run in runs]
    unit = units.column_unit(values)
    figure = empty(height=110 + 34 * len(runs))
    order = sorted(range(len(runs)), key=lambda position: (-values[position], position))
    for position in order:  # plotly draws from below
        value, interval = values[position], compared.interval(position, measure.key)
        low, high = (interval.low, interval.high) if interval is not None else (value, value)
        between = f"<br>95 %: {units.duration(low)} to {units.duration(high)}" if interval is not None else ""
        figure.add_scatter(
            x=[value / unit.seconds],
            y=[names[position]],
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
    figure = empty(height=360 + _legend_px(runs, 72))
    whose = "apps" if apps else "jobs"
    for position, (run, name) in enumerate(zip(runs, _names(runs))):
        found = series.cdf(series.app_rho(run) if apps else series.tracked(run, "rho"))
        if len(found.value):
            figure.add_scatter(
                x=_small(np.insert(found.value, 0, found.value[0])),
                y=_small(100 * np.insert(found.share, 0, 0.0)),
                name=name,
                mode="lines",
                line=_line(position, shape="hv"),
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
    add_levels(figure, levels, _names(runs), "%", ".0f")
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
    names = _names(runs)
    figure = empty(height=130 + 44 * len(runs))
    for cause in series.causes(runs):
        seconds = [total.get(cause, 0.0) for total in totals]
        hover = [
            f"{name}: {cause} {units.duration(part)}, {100 * part / (whole or 1.0):.1f} % of its waiting"
            for name, part, whole in zip(names, seconds, sums)
        ]
        figure.add_bar(
            orientation="h",
            x=[value / unit.seconds for value in seconds],
            y=names,
            name=cause,
            marker={"color": colours.CAUSES[cause], "line": {"width": 0}},
            hovertext=hover,
            hoverinfo="text",
        )
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    figure.update_xaxes(title_text=f"waiting, all jobs together ({unit.name})", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False, automargin=True, type="category")
    return figure


def gantt(runs: Sequence[Run], window: series.GanttWindow) -> Any:
    """Which job held which GPU when: a panel per run over the same GPUs and the same time.

    Numbers in the bars are job ids, where there is room; colours tell neighbouring jobs apart.
    """
    from plotly.subplots import make_subplots

    unit = units.axis_unit(window.end_s - window.start_s)
    panels = max(len(runs), 1)
    panel_px = max(_GANTT_ROW_PX * window.gpus, 60) + 44
    height = panel_px * panels + 60
    figure = make_subplots(
        rows=panels,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=min(40 / height, 1 / panels),
        subplot_titles=[f"<b>{name}</b>" for name in _names(runs)],
    )
    for position, run in enumerate(runs):
        found = series.bars(run, window.gpus).between(window.start_s, window.end_s)
        down = series.outages(run, window.gpus).between(window.start_s, window.end_s)
        if len(down):
            figure.add_trace(_down_bars(down, window, unit), row=position + 1, col=1)
        figure.add_trace(_gantt_bars(run, position, found, window, unit), row=position + 1, col=1)
    figure.update_layout(_layout(height))
    figure.update_layout(
        barmode="overlay",
        showlegend=False,
        uniformtext={"minsize": 8, "mode": "hide"},
        margin_t=32,
        hovermode="closest",
        meta={"time_s": unit.seconds, "held": [window.start_s, window.end_s]},
    )
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    figure.update_xaxes(**_AXIS, range=[window.start_s / unit.seconds, window.end_s / unit.seconds])
    figure.update_yaxes(
        **{**_AXIS, "showgrid": False}, title_text="GPU", range=[window.gpus - 0.5, -0.5], dtick=8
    )
    figure.update_xaxes(title_text=f"time ({unit.name})", row=panels, col=1)
    return figure


def _down_bars(down: series.Bars, window: series.GanttWindow, unit: units.Unit) -> dict[str, Any]:
    """GPUs of nodes that are down, in grey behind the jobs."""
    start = np.maximum(down.start_s, window.start_s) / unit.seconds
    end = np.minimum(down.end_s, window.end_s) / unit.seconds
    return {
        "type": "bar",
        "orientation": "h",
        "base": _small(start),
        "x": _small(end - start),
        "y": _small(down.gpu + (down.gpus - 1) / 2),
        "width": _small(down.gpus),
        "marker": {"color": colours.DOWN, "line": {"width": 0}, "pattern": {"shape": "/", "solidity": 0.2}},
        "hovertext": [
            f"down for {units.duration(till - begin)}"
            for begin, till in zip(down.start_s.tolist(), down.end_s.tolist())
        ],
        "hoverinfo": "text",
    }


def _gantt_bars(
    run: Run, position: int, found: series.Bars, window: series.GanttWindow, unit: units.Unit
) -> dict[str, Any]:
    start = np.maximum(found.start_s, window.start_s) / unit.seconds
    end = np.minimum(found.end_s, window.end_s) / unit.seconds
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
        "type": "bar",
        "orientation": "h",
        "base": _small(start),
        "x": _small(end - start),
        "y": _small(found.gpu + (found.gpus - 1) / 2),
        "width": _small(found.gpus - 0.12),
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


def _cdf(runs: Sequence[Run], column: str, title: str) -> Any:
    figure = empty(height=360 + _legend_px(runs, 72))
    low, high = np.inf, 1.0
    for position, (run, name) in enumerate(zip(runs, _names(runs))):
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
            x=_small(np.insert(value, 0, value[0])),
            y=_small(100 * np.insert(found.share, 0, 0.0)),
            name=name,
            mode="lines",
            legendgroup=name,
            line=_line(position, shape="hv"),
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
    figure = empty(height=310 + _legend_px(runs, 150))
    add_levels(figure, [of(run) for run in runs], _names(runs), suffix, number_format)
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
            bounds = np.column_stack((_small(found.low), _small(found.high)))
        figure.add_scatter(
            x=_small(time),
            y=_small(found.value),
            customdata=bounds,
            name=name,
            legendgroup=name,
            mode="lines",
            line=_line(position, shape="linear" if found.low is not None else "hv"),
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
        "x": _small(np.concatenate((time, time[::-1]))),
        "y": _small(np.concatenate((high, low[::-1]))),
        "fill": "toself",
        "fillcolor": colours.faint(colours.of_run(position), 0.13),
        "line": {"width": 0},
        "mode": "lines",
        "name": name,
        "legendgroup": name,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _names(runs: Sequence[Run]) -> list[str]:
    return [escape(name) for name in labels(runs)]  # plotly reads its texts as a kind of HTML


def _legend_px(runs: Sequence[Run], characters: int) -> int:
    """Height of the legend, so that it does not take it from the picture."""
    return 20 * legend_shape(labels(runs), characters)[1]


def _small(values: Array) -> Array:
    """Single precision: half the bytes, and far finer than a screen."""
    return np.asarray(values, dtype=np.float32)


def _line(position: int, shape: str) -> dict[str, Any]:
    return {
        "color": colours.of_run(position),
        "dash": colours.dash_of_run(position),
        "width": colours.width_of_run(position),
        "shape": shape,
    }


_AXIS: dict[str, Any] = {
    "gridcolor": _GRID,
    "zeroline": False,
    "linecolor": "rgba(128,128,128,0.6)",
    "ticks": "outside",
    "ticklen": 4,
    "tickcolor": "rgba(128,128,128,0.6)",
    "automargin": True,
    "title_standoff": 8,
}


def _layout(height: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 56, "r": 16, "t": 50, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {
            "family": "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif",
            "size": 13,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "hoverlabel": {"align": "left"},
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": "rgba(128,128,128,0.6)",
            "activecolor": "rgba(128,128,128,1)",
        },
    }


def empty(height: int) -> Any:
    """A figure without data in the page's style."""
    import plotly.graph_objects as go

    figure = go.Figure(layout={"template": go.layout.Template(), **_layout(height), "showlegend": True})
    figure.update_xaxes(**_AXIS)
    figure.update_yaxes(**_AXIS)
    return figure


def reach(below: list[float], above: list[float]) -> dict[str, Any]:
    """How far a spread goes below and above each point, as plotly's error bars; none where it is empty."""
    if not below:
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "thickness": 1,
        "width": 4,
    }
