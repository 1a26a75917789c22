"""What `run`, `compare` and `sweep` print: figures, why jobs waited, how fair it was, where results are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blox.cli.terminal import say
from blox.recorder import CAUSES

if TYPE_CHECKING:
    from rich.table import Table

    from blox.errors import BloxError
    from blox.report.run import Run


def show_runs(runs: Sequence[Run]) -> None:
    """Prints the figures of each run, how its jobs' waiting divides by cause, and how fair it was."""
    from blox.cli.safe_console import SafeConsole
    from blox.report.table import comparison_table
    from blox.report.words import mixed_speeds, remarks

    console = SafeConsole()
    console.print(comparison_table(runs))
    console.print()
    console.print(waiting_table(runs))
    console.print()
    console.print(fairness_table(runs))
    for remark in mixed_speeds(runs):
        console.print(remark, highlight=False, markup=False)
    for run in runs:
        for remark in remarks(run):
            console.print(f"{run.label}: {remark}", highlight=False, markup=False)
        jobs, finished = run.summary.get("jobs"), run.summary.get("finished")
        if finished is not None and jobs != finished:
            console.print(
                f"{run.label}: {finished:,} of {jobs:,} jobs finished", highlight=False, markup=False
            )


def waiting_table(runs: Sequence[Run]) -> Table:
    """The time that jobs waited, per submitted job, in the window or not, and the share of each cause."""
    from rich import box
    from rich.table import Table

    from blox.report.labels import labels
    from blox.report.table import Label
    from blox.report.units import duration

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    table.add_column("why jobs waited\n(all jobs of the run)", overflow="fold", min_width=9)
    table.add_column("\nper job", justify="right", no_wrap=True)
    causes = (*CAUSES, "arrival")
    for cause in causes:
        table.add_column(f"\n{cause}", justify="right", no_wrap=True)
    for name, run in zip(labels(runs), runs):
        seconds = [float(run.summary.get(f"wait_{cause}_s") or 0.0) for cause in causes]
        total = sum(seconds)
        shares = [f"{100 * part / total:.1f} %" if part else "–" for part in seconds]
        each = total / max(int(run.summary.get("submitted") or 0), 1)
        table.add_row(Label(name), duration(each), *shares)
    return table


def fairness_table(runs: Sequence[Run]) -> Table:
    """rho of jobs, and of apps where these are not the same: average, largest, Jain's index."""
    from rich import box
    from rich.table import Table

    from blox.report import measures
    from blox.report.labels import labels
    from blox.report.table import Label

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    table.add_column("fairness", overflow="fold", min_width=9)
    cells = []
    for measure in (*measures.FAIRNESS, *(measures.APPS if measures.by_app(runs) else ())):
        table.add_column(f"{measure.group}\n{measure.name}", justify="right", no_wrap=True)
        cells.append(measures.column(measure, runs)[1])
    for name, row in zip(labels(runs), zip(*cells)):
        table.add_row(Label(name), *row)
    return table


def note_broken(faults: Sequence[BloxError]) -> None:
    """Says in one line each, on standard error, which installed parts cannot be listed."""

    for fault in faults:
        say(f"note: {fault.where}: {fault.what}", to_stderr=True)


def written(out: Path, report: bool) -> None:
    """Says where the results are."""
    from blox.cli.safe_console import SafeConsole

    console = SafeConsole()
    console.print(f"\nresults: {out}", highlight=False, soft_wrap=True, markup=False)
    if report:
        console.print(f"report:  {out / 'report.html'}", highlight=False, soft_wrap=True, markup=False)
