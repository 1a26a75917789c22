"""`blox explain`: why did my job wait, and what did a round decide?"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from blox.explain import Explanation
    from blox.workloads.table import Array

STYLES = {
    "admission": "magenta", "priority": "blue", "capacity": "yellow", "fragmentation": "cyan",
    "scheduler": "bright_magenta", "arrival": "dim", "eviction": "red", "running": "green",
}  # fmt: skip

_SHOWN_INSTEAD = 5  # jobs that ran while one waited, unless --limit is lower


def explain(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A results directory, as `blox run --out` writes it.")
    ],
    job: Annotated[str | None, typer.Option(help="The job, by its id in the trace.", metavar="ID")] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Look inside the round at this time of the run: 36h, 90m, 2d.", metavar="TIME"),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="Show so many jobs, or intervals of one.", metavar="N")
    ] = 20,
) -> None:
    """Say why jobs waited: admission, priority, capacity, fragmentation, or the scheduler's own reasons.

    Without --job: in all, and the jobs that waited longest. With --job: that one, over time, and which jobs
    held the GPUs while it waited. With --at: the order of that round, its keys, what runs, what is next and
    what blocks each job.
    """
    from blox.cli.safe_console import SafeConsole
    from blox.explain import Explanation
    from blox.results.replications import first_run

    result, note = first_run(directory)
    explanation = Explanation(result)
    console = SafeConsole(highlight=False)
    if note:
        console.print(f"{note}\n", markup=False)
    if at is not None:
        from blox.cli.explain_at import show_round

        show_round(console, result, at, None if job is None else explanation.row(job), limit)
    elif job is None:
        _all_jobs(console, explanation, limit)
    else:
        _one_job(console, explanation, explanation.row(job), limit)


def _all_jobs(console: Console, explanation: Explanation, limit: int) -> None:
    import numpy as np
    from rich.text import Text

    from blox.explain import ARRIVAL, by_words
    from blox.report.units import duration

    reasons, waits, jobs = explanation.reasons(), explanation.waits(), explanation.result.jobs
    waited = np.sum(list(waits.values()), axis=0)
    total, count = float(waited.sum()), len(jobs["job_id"])
    if total <= float(waits[ARRIVAL].sum()):
        console.print(f"None of the {count:,} jobs waited longer than until the next round.")
        return
    table = simple_table("cause", "waited", "share", "jobs", "because", left=("cause", "because"))
    for reason in by_words(_worth_telling(reasons)):
        seconds = float(reason.seconds.sum())
        jobs_waited = f"{int((reason.seconds > 0).sum()):,}"
        share = f"{100 * seconds / total:.1f} %"
        table.add_row(_causes(reason.causes), duration(seconds), share, jobs_waited, Text(reason.words))
    measured = jobs["in_window"] == 1
    window = ""
    if not measured.all():
        each = float(waited[measured].mean()) if measured.any() else 0.0
        window = f"; the {int(measured.sum()):,} of the window {duration(each)}"
    console.print(
        f"{explanation.result.label}: all {count:,} jobs of the run waited {duration(total / count)} each "
        f"on average{window}. Why, all jobs of the run together:\n",
        markup=False,
    )
    console.print(table)
    longest = np.argsort(-waited, kind="stable")[:limit]
    table = simple_table(
        "job", "GPUs", "submitted", "waited", "mostly for", "JCT", "interrupted", left=("job", "mostly for")
    )
    for row in longest[waited[longest] > 0].tolist():
        cause = max(waits, key=lambda name: float(waits[name][row]))
        table.add_row(
            Text(str(jobs["job_id"][row])),
            f"{int(jobs['gpus'][row]):,}",
            clock_time(float(jobs["submit_s"][row])),
            duration(float(waited[row])),
            Text(cause, style=STYLES[cause]),
            duration(float(jobs["jct_s"][row])),
            f"{sum(explanation.interruptions(row).values()):,}",
        )
    console.print("\nThe jobs that waited longest (--job ID for one of them):\n")
    console.print(table)


def _worth_telling(reasons: Mapping[tuple[str, str], Array]) -> dict[tuple[str, str], Array]:
    """Without usual words that no job waited for, where other words are told of the cause."""
    from blox.explain import WORDS

    told = {cause for (cause, _), seconds in reasons.items() if seconds.any()}
    return {
        (cause, words): seconds
        for (cause, words), seconds in reasons.items()
        if cause not in told or seconds.any() or words != WORDS[cause]
    }


def _causes(causes: Sequence[str]) -> Text:
    """Causes one below the other, each in its colour."""
    from rich.text import Text

    return Text("\n").join(Text(cause, style=STYLES[cause]) for cause in causes)


def _one_job(console: Console, explanation: Explanation, row: int, limit: int) -> None:
    from rich.text import Text

    from blox.explain import by_words, places, stretches, totals_by_reason
    from blox.report.units import duration

    whole = explanation.history(row)
    history = stretches(whole)
    console.print(Text(explanation.sentence(row)))
    console.print()
    totals = {reason: seconds for reason, seconds in totals_by_reason(whole).items() if seconds > 0}
    if totals:
        table = simple_table("cause", "waited", "share", "because", left=("cause", "because"))
        for reason in by_words(totals):
            share = f"{100 * reason.seconds / sum(totals.values()):.1f} %"
            table.add_row(_causes(reason.causes), duration(reason.seconds), share, Text(reason.words))
        console.print(table)
        console.print()
    _instead(console, explanation, row, limit)
    table = simple_table("from", "for", "", "where, or why", left=("", "where, or why"))
    shown = history if len(history) <= limit else [*history[: limit - limit // 2], *history[-(limit // 2) :]]
    hidden = len(history) - len(shown)
    for position, part in enumerate(shown):
        if hidden and position == limit - limit // 2:
            table.add_row("...", "", Text(f"{hidden:,} more: --limit {len(history)}", style="dim"), "")
        words = "ran" if part.running else f"waited: {', '.join(part.causes)}"
        table.add_row(
            clock_time(part.start_s),
            duration(part.end_s - part.start_s),
            Text(words, style=STYLES[part.causes[0]]),
            Text(places(part.gpus, explanation.result.experiment) if part.running else part.words),
        )
    console.print(table)
    _preemptions(console, explanation, row)
    _evictions(console, explanation, row, limit)


def _instead(console: Console, explanation: Explanation, row: int, limit: int) -> None:
    """The jobs that ran while this one waited."""
    from rich.text import Text

    from blox.explain import ran_instead
    from blox.report.units import duration

    jobs = explanation.result.jobs
    found = ran_instead(explanation.result, explanation.history(row))
    if not found:
        return
    table = simple_table(
        "ran instead", "GPUs", "submitted", "GPU time", "share", left=("ran instead", "submitted")
    )
    shown = found[: min(limit, _SHOWN_INSTEAD)]
    for each in shown:
        later_s = float(jobs["submit_s"][each.row] - jobs["submit_s"][row])
        order = (
            f"{duration(abs(later_s))} {'after' if later_s > 0 else 'before'} it" if later_s else "with it"
        )
        table.add_row(
            Text(str(jobs["job_id"][each.row])),
            f"{int(jobs['gpus'][each.row]):,}",
            order,
            duration(each.gpu_s),
            f"{100 * each.share:.1f} %",
        )
    console.print("While it waited, these jobs held most of the GPU time that was in use:\n")
    console.print(table)
    if len(found) > len(shown):
        console.print(f"... and {len(found) - len(shown):,} other jobs")
    console.print()


def _preemptions(console: Console, explanation: Explanation, row: int) -> None:
    from blox.explain import RUNNING

    history = explanation.history(row)
    finish = float(explanation.result.jobs["finish_s"][row])
    others = {finish, *(each.time_s for each in explanation.evictions(row))}
    stops = [
        this.end_s
        for this, after in itertools.pairwise(history)
        if this.state == RUNNING and after.state != RUNNING and this.end_s not in others
    ]
    if stops:
        times = ", ".join(clock_time(stop) for stop in stops[:12])
        more = f", ... ({len(stops):,} in all)" if len(stops) > 12 else ""
        console.print(f"\npreempted at {times}{more}")


def _evictions(console: Console, explanation: Explanation, row: int, limit: int) -> None:
    from rich.text import Text

    from blox.report.units import duration

    found = explanation.evictions(row)
    if not found:
        return
    table = simple_table("lost its GPUs at", "because", "GPU time lost", left=("because",))
    for each in found[:limit]:
        table.add_row(clock_time(each.time_s), Text(each.reason), duration(each.lost_gpu_s))
    console.print()
    console.print(table)
    if len(found) > limit:
        console.print(f"... and {len(found) - limit:,} times more: --limit {len(found)}")


def clock_time(seconds: float) -> str:
    """A time of the simulation, from its beginning: `3d 04:05:00`."""
    whole = round(seconds)
    days, rest = divmod(whole, 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}d {text}" if days else text


def simple_table(*heads: str, left: tuple[str, ...]) -> Table:
    """A table with a line below its heads; columns not named in `left` are set flush right."""
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    for head in heads:
        table.add_column(head, justify="left" if head in left else "right", overflow="fold")
    return table
