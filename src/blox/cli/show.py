"""What `run`, `compare` and `sweep` print: figures, why jobs waited, how fair it was, where results are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blox.cli.terminal import say

if TYPE_CHECKING:
    from blox.errors import BloxError
    from blox.report.measures import Measure
    from blox.report.run import Run
    from blox.report.wide_table import WideTable


def show_runs(runs: Sequence[Run]) -> None:
    """Prints the figures of each run, why its jobs waited and how long at most, and how fair it was."""
    from blox.cli.safe_console import SafeConsole
    from blox.report import series
    from blox.report.causes import causes_sheet
    from blox.report.certainty import certainty, idle_queues, jobs_told
    from blox.report.labels import labels
    from blox.report.sheet_table import sheet_table
    from blox.report.sheets import further_sheet
    from blox.report.table import comparison_table, difference_table
    from blox.report.waits import waiting_sheet
    from blox.report.words import notes
    from blox.results.comparison import Comparison

    console = SafeConsole()
    runs = Comparison.of(runs)
    console.print(comparison_table(runs))
    console.print(f"{jobs_told(runs)} {certainty(runs)}", highlight=False, markup=False)
    if (differences := difference_table(runs)) is not None:
        console.print()
        console.print(differences)
    console.print()
    console.print(sheet_table(causes_sheet(runs)))
    console.print()
    console.print(fairness_table(runs))
    if series.evicts(runs):
        for costs in failure_tables(runs):
            console.print()
            console.print(costs)
    for sheet in (waiting_sheet(runs), further_sheet(runs)):
        if sheet.columns:
            console.print()
            console.print(sheet_table(sheet))
    for note in (*idle_queues(runs), *notes(runs)):
        console.print(note, highlight=False, markup=False)
    for name, run in zip(labels(runs), runs):
        jobs, finished = run.summary.get("jobs"), run.summary.get("finished")
        if finished is not None and jobs != finished:
            console.print(f"{name}: {finished:,} of {jobs:,} jobs finished", highlight=False, markup=False)


def fairness_table(runs: Sequence[Run]) -> WideTable:
    """rho of jobs, and of apps where these are not the same: average, largest, Jain's index."""
    from blox.report import measures

    shown = (*measures.FAIRNESS, *(measures.APPS if measures.by_app(runs) else ()))
    return _measured("fairness", shown, runs)


def failure_tables(runs: Sequence[Run]) -> tuple[WideTable, WideTable]:
    """What failed and what it cost; and the effective training time ratio, in all and by job size."""
    from blox.report import measures

    title = "effective training\ntime, by GPUs of a job"
    return (
        _measured("failures", measures.FAILURES, runs),
        _measured(title, measures.effective_ratios(runs), runs),
    )


def _measured(title: str, shown: Sequence[Measure], runs: Sequence[Run]) -> WideTable:
    """A row per run, a column per measure, with intervals."""
    from blox.report import measures
    from blox.report.labels import labels
    from blox.report.table import figure_cells
    from blox.report.wide_table import Column, WideTable, right

    columns = []
    for measure in shown:
        unit, texts = measures.column(measure, runs, short=True)
        head = "\n".join(filter(None, (measure.group, measure.name, unit)))
        reach = measures.half_widths(measure, runs, short=True)
        columns.append(Column(measure.group, right(head), figure_cells(texts, reach)))
    return WideTable([title], [[name] for name in labels(runs)], columns)


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
