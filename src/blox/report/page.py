"""The HTML report: one file that opens from disk without a network, for one run or a comparison."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from blox.report import choices, figures, gpu_bars, measures, series, sheets, style, words
from blox.report.again import again
from blox.report.breakdown import Breakdown
from blox.report.causes import causes_sheet
from blox.report.certainty import certainty, idle_queues, jobs_told, seeds_told
from blox.report.differences import CAPTION, differences
from blox.report.gantt import gantt
from blox.report.labels import labels
from blox.report.multiples import panels
from blox.report.page_parts import embedded, multiples, scrolled, section, swatch
from blox.report.run import Run
from blox.report.sheet_html import breakable, figure_cell, sheet_html, verdicts_html
from blox.report.stories import Stories, gantt_rows
from blox.report.tenant_sections import fairness_between_tenants
from blox.report.waits import waiting_sheet
from blox.results.comparison import Comparison
from blox.results.files import write_text
from blox.version import VERSION

# The Gantt view needs a panel per run; the others overlay any number.

# Says which time the charts over time show, and sets it: also with the keyboard, and on a touch screen.
TIME_RANGE = (
    '<form class="time-range" hidden><strong>Time shown</strong><output></output>'
    '<label>from <input type="range" name="from" min="0" max="1000" value="0"></label>'
    '<label>to <input type="range" name="to" min="0" max="1000" value="1000"></label>'
    '<button type="button">All</button></form>'
)

_MARKED = "The best value of a column and those not distinguishable from it are marked."

# Forbids the page to load anything: what is not inside the file cannot be shown.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def write_report(
    path: str | Path,
    results: Sequence[Run],
    title: str = "blox report",
    by: Sequence[str] = (),
    measures: Sequence[str] = (),
    more: Sequence[str] = (),
) -> None:
    """Writes the report of one run or several to `path`, also by columns of jobs: whole, or not at all.

    `measures` are those of the groups, by name: `jct`, `waiting`, ..., or `all`. `more` are sections that
    stand behind the figures.

    The file holds everything it needs, plotly's JavaScript included (about 5 MB). Runs without finished
    jobs are shown with the figures they have.
    """
    write_text(Path(path), page(results, title, by, measures, more))


def page(
    results: Sequence[Run],
    title: str,
    by: Sequence[str] = (),
    group_measures: Sequence[str] = (),
    more: Sequence[str] = (),
) -> str:
    """The report as HTML text."""
    runs = Comparison.of(results)
    claim, price = words.headline(runs)
    return document(title, claim, price, _sections(runs, by, group_measures, more) if runs else [])


def document(title: str, claim: str, price: str, sections: Sequence[str], css: str = "") -> str:
    """A page that holds everything it needs: two sentences at its head, then sections; `css` is added."""
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
            f"<style>{style.CSS}{css}</style></head><body><main>",
            *body,
            "</main>",
            "<noscript>The figures need JavaScript; the tables do not.</noscript>",
            f"<script>{get_plotlyjs()}</script>",
            f"<script>{style.SCRIPT}</script>",
            "</body></html>",
            "",
        )
    )


def _sections(
    runs: Sequence[Run], by: Sequence[str], group_measures: Sequence[str], more: Sequence[str]
) -> list[str]:
    """The page from top to bottom: figures in numbers, distributions over jobs, courses over time."""
    stories = Stories(runs)
    return [
        section(
            "metrics",
            "Figures",
            f"{jobs_told(runs)} {certainty(runs)} {_MARKED if len(runs) > 1 else ''} "
            "Utilisation, fragmentation and jobs waiting: averages over the time in which these arrived, and "
            "over the whole run. Interruptions: preemptions, moves and evictions of all jobs.",
            _metrics_table(runs, measures.shown_on_page(runs)) + _remarks(runs),
        ),
        *more,
        *_failures(runs),
        *_choices(runs),
        *_longest_waits(runs),
        *stories.longest_waits(),
        *_others(runs),
        *(part for column in by for part in _by_group(runs, column, group_measures)),
        *_averages(runs),
        *_distributions(runs),
        '<div class="over-time">',
        TIME_RANGE,
        *_courses(runs),
        *fairness_between_tenants(runs),
        *_gpus_by_job(runs, stories),
        "</div>",
        *_waiting(runs),
        again(runs),
    ]


def _distributions(runs: Sequence[Run]) -> list[str]:
    """Completion time, responsiveness and fairness, each over the jobs of a run."""
    _, all_seeds = seeds_told(runs)
    if len(runs) <= series.MOST_INTERVALS and Comparison.of(runs).basis.enough:
        all_seeds += " The shaded bands are 95 % intervals, point by point."
    return [
        '<div class="pair">',
        section(
            "jct-cdf",
            "Job completion time",
            f"Share of jobs that finish within a time; left is better.{all_seeds} {words.unfinished(runs)}",
            embedded("jct", figures.jct_cdf(runs)),
        ),
        section(
            "responsiveness-cdf",
            "Responsiveness",
            f"Share of jobs that have started within a time; left is better.{all_seeds}",
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
    ]


def _courses(runs: Sequence[Run]) -> list[str]:
    """What changes while a run goes on."""
    return [
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
    ]


def _waiting(runs: Sequence[Run]) -> list[str]:
    """Why the jobs of runs waited."""
    caption = (
        "All jobs of the run, in the window or not. Admission: held outside. Priority: the GPUs went to "
        "jobs ahead. Capacity: too few were free or came free. Fragmentation: enough were free, but not "
        "where the job could use them. Arrival: the next round had not begun."
        + (" Eviction: nor had it since the job lost its GPUs." if series.evicts(runs) else "")
    )
    drawn = embedded("causes", figures.waiting(runs)) + sheet_html(causes_sheet(runs))
    return [section("waiting", "Why jobs waited", caption, drawn)]


def _gpus_by_job(runs: Sequence[Run], stories: Stories) -> list[str]:
    """Which job was on which GPU, for a part of the time; a click tells the story of a job."""
    shown = runs[: gpu_bars.MOST_PANELS]
    window = gpu_bars.gantt_window(shown)
    for position, run in enumerate(shown):
        stories.want(position, gantt_rows(run, window))
    told = stories.html()
    caption = (
        f"{words.gantt_caption(window, runs)} A bar is a job on neighbouring GPUs; "
        f"hover for its id, GPUs and times{', click for its story' if told else ''}; drag to zoom."
        f"{' Grey: down.' if series.evicts(runs) else ''}"
    )
    drawn = f'<p class="outside" hidden></p>{embedded("gpus", gantt(shown, window))}{told}'
    return [section("gantt", "GPUs by job", caption, drawn, long=True)]


def _longest_waits(runs: Sequence[Run]) -> list[str]:
    """The longest waits in figures."""
    waits = waiting_sheet(runs)
    caption = (
        "Time not on GPUs, from submission to finish; a job that has not finished counts with what it "
        "has waited by the end of the run. Over several seeds, the figures of a size are means over the "
        "seeds that have such jobs."
    )
    return [section("starvation", "Longest waits", caption, sheet_html(waits))] if waits.columns else []


def _others(runs: Sequence[Run]) -> list[str]:
    """Figures that not every run has."""
    further = sheets.further_sheet(runs)
    caption = "Slowdown: job completion time over the time that the job takes alone."
    return [section("further", "Other figures", caption, sheet_html(further))] if further.columns else []


def _by_group(runs: Sequence[Run], column: str, group_measures: Sequence[str]) -> list[str]:
    """The figures by the values of a column, and which run is best in each group."""
    found = Breakdown.of(runs, column, group_measures)
    caption = "Over the jobs of each group. "
    if found.verdicts is not None:
        caption += "The best value of a group and those not distinguishable from it are marked."
    elif len(runs) > 1:
        caption += f"Nothing is marked. {certainty(runs)}"
    title = found.sheet.title[0].upper() + found.sheet.title[1:]
    content = multiples(f"by-{column}-panel", panels(found), found.names) + sheet_html(found.sheet)
    content += verdicts_html(found.verdicts) if found.verdicts is not None else ""
    return [section(f"by-{column}", title, caption, content, long=True)]


def _averages(runs: Sequence[Run]) -> list[str]:
    """Means with their intervals as pictures, and how runs differ from the best, where that can be told."""
    if len(runs) < 2 or not Comparison.of(runs).basis.enough:
        return []
    bars = "Bars: 95 % intervals; none is drawn below 0."
    drawn = [
        section(f"average-{name}", title, bars, embedded(f"{name}-averages", figures.averages(runs, measure)))
        for name, title, measure in (
            ("jct", "Average JCT", measures.AVG_JCT),
            ("resp", "Average responsiveness", measures.AVG_RESPONSIVENESS),
        )
    ]
    return ['<div class="pair">', *drawn, "</div>", *_differences(runs)]


def _differences(runs: Sequence[Run]) -> list[str]:
    """The table of differences from the lowest average JCT, where they can be told."""
    unit, rows = differences(runs)
    if not rows:
        return []
    heads = ("run", f"difference <small>({unit})</small>", "", f"95 % interval <small>({unit})</small>", "")
    body = "".join(
        f"<tr><th>{swatch(row.position)}{breakable(row.name)}</th>"
        + "".join(
            f"<td>{escape(text)}</td>" for text in (row.difference, row.share, row.interval, row.verdict)
        )
        + "</tr>"
        for row in rows
    )
    head = "".join(f"<th>{text}</th>" for text in heads)
    table = f'<table class="texts"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    caption = "Paired: each run against the lowest on the same jobs. " + CAPTION
    return [
        section(
            "differences",
            "Differences in average JCT",
            caption,
            f'<div class="scroll" tabindex="0">{table}</div>',
        )
    ]


def _remarks(runs: Sequence[Run]) -> str:
    told = [*idle_queues(runs), *words.notes(runs)]
    named = tuple(f"{name}: " for name in labels(runs))  # as they are written everywhere else
    sentences = (note if note.startswith(named) else note[0].upper() + note[1:] for note in told)
    return "".join(f'<p class="caption">{escape(sentence)}.</p>' for sentence in sentences)


def _fairness_of_apps(runs: Sequence[Run]) -> list[str]:
    """The same for apps, where jobs are grouped into such."""
    if not measures.by_app(runs):
        return []
    caption = (
        "Share of apps whose rho is at most so much: the time that an app had jobs in the system, over what "
        "an equal part of the cluster would have given."
    )
    return [
        section(
            "app-rho-cdf",
            "Finish-time fairness of apps",
            caption,
            embedded("app-rho", figures.rho_cdf(runs, apps=True)),
        )
    ]


def _failures(runs: Sequence[Run]) -> list[str]:
    """What failures and checkpoints cost, where runs have such."""
    if not series.evicts(runs):
        return []
    caption = (
        "An eviction: a job lost its GPUs because its node failed or was drained, or it failed itself. GPU "
        "time lost: since the last checkpoint before a failure. Effective training time: the share of the "
        "GPU time that jobs held in which they did work that was kept, by the GPUs that a job asks for."
    )
    tables = _metrics_table(runs, measures.FAILURES) + _metrics_table(runs, measures.effective_ratios(runs))
    return [section("failures", "Failures", caption, tables)]


def _choices(runs: Sequence[Run]) -> list[str]:
    """Which policies ruled when, of runs that choose among some."""
    found = []
    for position, reigns in choices.chosen(runs):
        run, name = runs[position], labels(runs)[position]
        caption = (
            f"{choices.counted(run, len(reigns.time_s))}. {reigns.name[0]} ruled until the first. At each, "
            "every combination was run ahead from the present state; the second picture and the table say "
            f"how each would have done, against the best.{seeds_told([run])[0]}"
        )
        title = "Which policies ruled" if len(runs) == 1 else f"Which policies ruled in {name}"
        drawn = embedded(f"reigns-{position}", choices.timeline(reigns, run).interactive())
        drawn += embedded(f"lead-{position}", choices.lead(reigns).interactive())
        found.append(section(f"choices-{position}", title, caption, drawn + choices.table(reigns)))
    return found


def _metrics_table(runs: Sequence[Run], shown: Sequence[measures.Measure]) -> str:
    groups = [(group, len(list(members))) for group, members in groupby(shown, key=lambda m: m.group)]
    top = "".join(
        f'<th class="span" colspan="{count}">{escape(group)}</th>'
        if group
        else f'<th colspan="{count}"></th>'
        for group, count in groups
    )
    columns = [
        (measures.column(measure, runs), measures.half_widths(measure, runs), measures.marks(measure, runs))
        for measure in shown
    ]
    heads = "".join(
        f"<th>{escape(measure.name)}{f' <small>({unit})</small>' if unit else ''}</th>"
        for measure, ((unit, _), _, _) in zip(shown, columns)
    )
    rows = []
    for position, name in enumerate(labels(runs)):
        cells = "".join(
            figure_cell(texts[position], reach[position], marks[position])
            for (_, texts), reach, marks in columns
        )
        rows.append(f"<tr><th>{swatch(position)}{breakable(name)}</th>{cells}</tr>")
    return scrolled(
        f'<table><thead><tr class="groups"><th></th>{top}</tr>'
        f"<tr><th>run</th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _unbroken(sentence: str) -> str:
    """Escaped text in which a figure and its unit stay on one line."""
    return escape(re.sub(r"(?<=\d) (?=(%|s|min|h|d)\b|%)", "\u00a0", sentence))
