"""The HTML report: one file that opens from disk without a network, for one run or a comparison."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from blox.report import colours, figures, measures, series, settings, style, words
from blox.report.labels import labels
from blox.report.run import Run
from blox.results.files import write_text
from blox.toml_text import to_toml
from blox.version import VERSION

# The Gantt view needs a panel per run; the others overlay any number.
MOST_PANELS = 6

# Forbids the page to load anything: what is not inside the file cannot be shown.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def write_report(path: Path, results: Sequence[Run], title: str = "blox report") -> None:
    """Writes the report of one run or several to `path`: whole, or not at all.

    The file holds everything it needs, plotly's JavaScript included (about 5 MB). Runs without finished
    jobs are shown with the figures they have.
    """
    write_text(Path(path), page(results, title))


def page(results: Sequence[Run], title: str) -> str:
    """The report as HTML text."""
    claim, price = words.headline(results)
    return document(title, claim, price, _sections(results) if results else [])


def document(title: str, claim: str, price: str, sections: Sequence[str]) -> str:
    """A page that holds everything it needs: two sentences at its head, then sections."""
    from plotly.offline import get_plotlyjs

    body = [
        f'<header><p class="title">{escape(title)}</p><h1>{_unbroken(claim)}</h1>'
        f'<p class="price">{_unbroken(price)}</p></header>',
        *sections,
        f"<footer>Written by blox {escape(VERSION)}. JCT: job completion time, from submission to finish. "
        "Responsiveness: from submission to first start.</footer>",
    ]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{style.CSS}</style></head><body><main>",
            *body,
            "</main>",
            "<noscript>The figures need JavaScript; the tables do not.</noscript>",
            f"<script>{get_plotlyjs()}</script>",
            f"<script>{style.SCRIPT}</script>",
            "</body></html>",
            "",
        )
    )


def _sections(runs: Sequence[Run]) -> list[str]:
    several = len(runs) > 1
    window = series.gantt_window(runs[:MOST_PANELS])
    shown = "" if len(runs) <= MOST_PANELS else f" The first {MOST_PANELS} of {len(runs)} runs."
    return [
        section(
            "metrics",
            "Figures",
            "Over the tracked jobs; utilisation, preemptions, moves and fragmentation over the whole run."
            + (" The best value of each column is marked." if several else ""),
            _metrics_table(runs) + _remarks(runs),
        ),
        '<div class="pair">',
        section(
            "jct-cdf",
            "Job completion time",
            f"Share of jobs that finish within a time; left is better. {words.unfinished(runs)}",
            embedded("jct", figures.jct_cdf(runs)),
        ),
        section(
            "responsiveness-cdf",
            "Responsiveness",
            "Share of jobs that have started within a time; left is better.",
            embedded("responsiveness", figures.responsiveness_cdf(runs)),
        ),
        "</div>",
        section(
            "rho-cdf",
            "Finish-time fairness",
            "Share of jobs whose rho is at most so much; left is better. rho: time from submission to "
            "finish, over what an equal part of the cluster would have given.",
            embedded("rho", figures.rho_cdf(runs)),
        ),
        *_fairness_of_apps(runs),
        section(
            "utilisation",
            "GPUs in use",
            f"Share of the cluster's GPUs. {words.smoothing(runs, series.utilisation)}",
            embedded("used", figures.utilisation(runs)),
        ),
        section(
            "queue",
            "Jobs waiting",
            f"Held by admission, or admitted and not running. {words.smoothing(runs, series.queue)}",
            embedded("waiting-jobs", figures.queue(runs)),
        ),
        section(
            "fragmentation",
            "Fragmentation",
            f"Free GPUs that stand on partly used nodes. {words.smoothing(runs, series.fragmentation)}",
            embedded("fragments", figures.fragmentation(runs)),
        ),
        section(
            "waiting",
            "Why jobs waited",
            "All jobs of the run, in the window or not. Admission: held outside. Priority: the GPUs went to "
            "jobs ahead. Capacity: too few were free or came free. Fragmentation: enough were free, but not "
            "where the job could use them. Arrival: the next round had not begun.",
            embedded("causes", figures.waiting(runs)),
        ),
        section(
            "gantt",
            "GPUs by job",
            f"{words.gantt_caption(window)}{shown} A bar is a job on neighbouring GPUs; "
            "hover for its id, GPUs and times; drag to zoom.",
            embedded("gpus", figures.gantt(runs[:MOST_PANELS], window)),
            long=True,
        ),
        section("settings", "What was run", "", _settings(runs), long=True),
    ]


def _remarks(runs: Sequence[Run]) -> str:
    told = [f"{run.label}: {remark}." for run in runs for remark in words.remarks(run)]
    told += [f"{remark[0].upper()}{remark[1:]}." for remark in words.mixed_speeds(runs)]
    return "".join(f'<p class="caption">{escape(each)}</p>' for each in told)


def _fairness_of_apps(runs: Sequence[Run]) -> list[str]:
    """The same for apps, where jobs are grouped into such."""
    if not measures.by_app(runs):
        return []
    caption = "Share of apps whose rho is at most so much. An app is there from its first job to its last."
    return [
        section(
            "app-rho-cdf",
            "Finish-time fairness of apps",
            caption,
            embedded("app-rho", figures.rho_cdf(runs, apps=True)),
        )
    ]


def section(name: str, title: str, caption: str, content: str, long: bool = False) -> str:
    """A part of the page under its own heading."""
    said = f'<p class="caption">{escape(caption.strip())}</p>' if caption.strip() else ""
    kind = ' class="long"' if long else ""
    return f'<section id="{name}"{kind}><h2>{escape(title)}</h2>{said}{content}</section>'


def embedded(name: str, figure: Any) -> str:
    """A figure as part of the page, drawn when it opens."""
    # In a script element only "</" could end the text early; JSON may write it as "<\/".
    text = figure.to_json().replace("</", "<\\/").replace("<!--", "<\\u0021--")
    height = int(figure.layout.height)
    return (
        f'<div class="figure" id="{name}" style="min-height:{height}px"></div>'
        f'<script type="application/json" id="{name}-data">{text}</script>'
    )


def _metrics_table(runs: Sequence[Run]) -> str:
    groups = [(group, len(list(members))) for group, members in groupby(measures.PAGE, key=lambda m: m.group)]
    top = "".join(
        f'<th class="span" colspan="{count}">{escape(group)}</th>'
        if group
        else f'<th colspan="{count}"></th>'
        for group, count in groups
    )
    columns = [(measures.column(measure, runs), measures.best(measure, runs)) for measure in measures.PAGE]
    heads = "".join(
        f"<th>{escape(measure.name)}{f' <small>({unit})</small>' if unit else ''}</th>"
        for measure, ((unit, _), _) in zip(measures.PAGE, columns)
    )
    rows = []
    for position, name in enumerate(labels(runs)):
        cells = "".join(
            f'<td class="best">{texts[position]}</td>' if position in best else f"<td>{texts[position]}</td>"
            for (_, texts), best in columns
        )
        rows.append(f"<tr><th>{_swatch(position)}{_breakable(name)}</th>{cells}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr class="groups"><th></th>{top}</tr>'
        f"<tr><th>run</th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _settings(runs: Sequence[Run]) -> str:
    names = labels(runs)
    parts = []
    differing = settings.differences(runs)
    if differing:
        heads = "".join(f"<th>{escape(setting)}</th>" for setting in differing)
        rows = "".join(
            f"<tr><th>{_swatch(position)}{_breakable(name)}</th>"
            + "".join(f"<td>{escape(texts[position])}</td>" for texts in differing.values())
            + "</tr>"
            for position, name in enumerate(names)
        )
        parts.append(
            '<p class="caption">The settings in which the runs differ.</p>'
            f'<div class="scroll"><table class="texts"><thead><tr><th>run</th>{heads}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )
    parts.append(
        '<p class="caption">To run one again, save its text as <code>experiment.toml</code> and call '
        "<code>blox run experiment.toml</code>.</p>"
    )
    for name, run in zip(names, runs):
        opened = " open" if len(runs) == 1 else ""
        text = escape(to_toml(run.experiment))
        parts.append(
            f"<details{opened}><summary>{escape(name)}</summary><pre><code>{text}</code></pre></details>"
        )
    return "".join(parts)


def _unbroken(sentence: str) -> str:
    """Escaped text in which a figure and its unit stay on one line."""
    return escape(re.sub(r"(?<=\d) (?=(%|s|min|h|d)\b|%)", "\u00a0", sentence))


def _breakable(name: str) -> str:
    """An escaped label that may be broken after the marks that join its parts."""
    return re.sub(r"(?<=[:,+/@])", "<wbr>", escape(name))


def _swatch(position: int) -> str:
    return f'<span class="swatch" style="background:{colours.of_run(position)}"></span>'
