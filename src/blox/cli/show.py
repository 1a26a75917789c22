"""What `run`, `compare` and `sweep` print: figures, why jobs waited, how fair it was, where results are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from blox.errors import BloxError
    from blox.report.measures import Measure
    from blox.report.run import Run


def show_runs(runs: Sequence[Run]) -> None:
    """Prints the figures of each run, how its jobs' waiting divides by cause, and how fair it was."""
    from rich.console import Console

    from blox.report import series
    from blox.report.table import comparison_table
    from blox.report.words import mixed_speeds, remarks

    console = Console()
    console.print(comparison_table(runs))
    console.print()
    console.print(waiting_table(runs))
    console.print()
    console.print(fairness_table(runs))
    if series.evicts(runs):
        for costs in failure_tables(runs):
            console.print()
            console.print(costs)
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

    from blox.report import series
    from blox.report.labels import labels
    from blox.report.table import Label
    from blox.report.units import duration

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    table.add_column("why jobs waited\n(all jobs of the run)", overflow="fold", min_width=9)
    table.add_column("\nper job", justify="right", no_wrap=True)
    causes = series.causes(runs)
    if series.evicts(runs):  # one more: leave out those without figures
        causes = tuple(cause for cause in causes if any(run.summary.get(f"wait_{cause}_s") for run in runs))
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
    from blox.report import measures

    columns = (*measures.FAIRNESS, *(measures.APPS if measures.by_app(runs) else ()))
    return _measured("fairness", columns, runs)


def failure_tables(runs: Sequence[Run]) -> tuple[Table, Table]:
    """What failed and what it cost; and the effective training time ratio, in all and by job size."""
    from blox.report import measures

    title = "effective training\ntime, by GPUs of a job"
    return (
        _measured("failures", measures.FAILURES, runs),
        _measured(title, measures.effective_ratios(runs), runs),
    )


def _measured(title: str, columns: Sequence[Measure], runs: Sequence[Run]) -> Table:
    """A row per run, a column per measure."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from blox.report import measures
    from blox.report.labels import labels
    from blox.report.table import Label

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    table.add_column(title, overflow="fold", min_width=9)
    cells = []
    for measure in columns:
        unit, texts = measures.column(measure, runs, short=True)
        head = "\n".join(filter(None, (measure.group, measure.name, unit)))
        table.add_column(Text(head, justify="right"), justify="right", no_wrap=True)
        cells.append(texts)
    for name, row in zip(labels(runs), zip(*cells)):
        table.add_row(Label(name), *row)
    return table


def note_broken(faults: Sequence[BloxError]) -> None:
    """Says in one line each, on standard error, which installed parts cannot be listed."""
    import typer

    for fault in faults:
        typer.echo(f"note: {fault.where}: {fault.what}", err=True)


def written(out: Path, report: bool) -> None:
    """Says where the results are."""
    from rich.console import Console

    console = Console()
    console.print(f"\nresults: {out}", highlight=False, soft_wrap=True, markup=False)
    if report:
        console.print(f"report:  {out / 'report.html'}", highlight=False, soft_wrap=True, markup=False)
