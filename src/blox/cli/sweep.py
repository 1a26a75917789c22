"""`blox sweep`: every combination of lists of settings, in parallel, resuming what was finished."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli import options
from blox.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from blox.experiment.parallel import Outcome
    from blox.experiment.sweep import Grid

MOST_ROWS = 60  # of the table on the terminal; sweep.csv has them all


def sweep(
    out: Annotated[
        Path,
        typer.Option(
            help="Where the runs, sweep.csv and report.html go; give it again to resume.",
            rich_help_panel="Output",
            metavar="DIR",
        ),
    ],
    experiment: options.Settings = None,
    workload: options.Workloads = None,
    cluster: options.Clusters = None,
    admission: options.Admissions = None,
    scheduler: options.Schedulers = None,
    placement: options.Placements = None,
    termination: options.Terminations = None,
    performance: options.Performances = None,
    overheads: options.ManyOverheads = None,
    belief: options.Beliefs = None,
    compat: options.Compats = None,
    load: options.Loads = None,
    seed: options.Seeds = None,
    round_s: options.Rounds = None,
    clock: options.Clock = None,
    window: options.Window = None,
    jobs: options.Jobs = None,
    max_rounds: options.MaxRounds = None,
    report: options.ReportToo = True,
    processes: options.Processes = None,
    ignore_checksum: options.IgnoreChecksum = False,
) -> None:
    """Run every combination of lists of settings.

    Options under "What runs", --load, --seed and --round take several values, joined with commas or given
    again; a TOML file has lists at its top or under [sweep]. Each run is saved when it has finished: after an
    interruption, the same command goes on where it was.
    """
    several = {
        "workload": workload, "cluster": cluster, "admission": admission, "scheduler": scheduler,
        "placement": placement, "termination": termination, "performance": performance,
        "overheads": overheads, "belief": belief, "compat": compat, "load": load, "seed": seed,
        "round_s": round_s,
    }  # fmt: skip
    single = {"clock": clock, "window": window, "jobs": jobs, "max_rounds": max_rounds}
    from blox.cli.grids import failures, folder_of_runs, grid_from

    with folder_of_runs(out, "runs", "sweep.toml", "sweep.csv", "report.html"):
        grid = grid_from(experiment, single, several, ignore_checksum=ignore_checksum)
        outcomes = _run(out, grid, processes)
        _finish(out, grid, outcomes, report)
    failures(outcomes)


def _run(out: Path, grid: Grid, processes: int | None) -> list[Outcome]:
    """How every run of the grid ended; runs that were finished before are not run again."""
    from blox.cli.grids import check_targets, run_tasks
    from blox.cli.interrupt import Interrupted
    from blox.experiment.parallel import Task
    from blox.experiment.sweep import check_all, finished_outcome, run_name
    from blox.results.files import write_text
    from blox.toml_text import to_toml

    experiments = grid.experiments()
    check_all(experiments)
    _note_load(grid)
    tasks = [Task(each, out / "runs" / run_name(each)) for each in experiments]
    known = {task: outcome for task in tasks if (outcome := finished_outcome(task)) is not None}
    left = [task for task in tasks if task not in known]
    check_targets(left)
    write_text(out / "sweep.toml", to_toml(grid.to_table()))
    if known:
        say(f"{len(known)} of {len(tasks)} runs were finished before", to_stderr=True)
    try:
        outcomes = run_tasks(left, [_name(task.experiment, grid) for task in left], processes, len(known))
    except KeyboardInterrupt:
        done = sum(finished_outcome(task) is not None for task in tasks)
        raise Interrupted(
            f"interrupted: {done} of {len(tasks)} runs are finished and kept\n"
            f"  to go on: blox sweep {out / 'sweep.toml'} --out {out}"
        ) from None
    ended = {**known, **dict(zip(left, outcomes))}
    return [ended[task] for task in tasks]


def _note_load(grid: Grid) -> None:
    """Says so if the swept load takes the place of one that a workload names itself."""
    from blox.experiment.sweep import own_load

    for workload in grid.axes.get("workload", [grid.base.workload]) if "load" in grid.axes else []:
        if (load := own_load(workload)) is not None:
            say(f"note: --load replaces the load={load} of {workload}", to_stderr=True)


def _finish(out: Path, grid: Grid, outcomes: Sequence[Outcome], report: bool) -> None:
    """Writes what sums the sweep up, and prints it."""
    from blox.cli.safe_console import SafeConsole
    from blox.experiment.sweep import sweep_csv
    from blox.report.sweep_page import write_sweep_report
    from blox.results.files import write_text

    if not any(outcome.result for outcome in outcomes):
        return
    write_text(out / "sweep.csv", sweep_csv(grid, outcomes))
    console = SafeConsole()
    console.print(_table(grid, outcomes))
    lines = [f"\nfigures: {out / 'sweep.csv'}"]
    if report:
        write_sweep_report(out / "report.html", grid, outcomes)
        lines.append(f"report:  {out / 'report.html'}")
    console.print("\n".join(lines), highlight=False, soft_wrap=True, markup=False)


def _name(experiment: object, grid: Grid) -> str:
    """A run in the progress display: the settings that vary."""
    from blox.experiment.settings import Experiment
    from blox.experiment.sweep import setting_of

    assert isinstance(experiment, Experiment)
    texts = [(name, setting_of(experiment, name)) for name in grid.varying()]
    words = [
        str(text) if isinstance(text, str) and name != "load" else f"{name}={text}" for name, text in texts
    ]
    return " ".join(word for word in words if word) or experiment.scheduler


def _table(grid: Grid, outcomes: Sequence[Outcome]) -> Table:
    """A row per finished run: the settings that vary, and the main figures."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from blox.experiment.sweep import setting_of
    from blox.report import measures
    from blox.report.table import Label

    rows = [(o.task.experiment, o.result) for o in outcomes if o.result is not None]
    results = [result for _, result in rows]
    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    varying = grid.varying()
    for name in varying or ["scheduler"]:
        head = name.removesuffix("_s")
        table.add_column(head, overflow="fold", min_width=len(head))
    columns = []
    for measure in measures.TERMINAL:
        if measure.key in _FIGURES:
            unit, texts = measures.column(measure, results, short=True)
            head = "\n".join(
                filter(None, (measure.group.replace("responsiveness", "resp."), measure.name, unit))
            )
            table.add_column(Text(head, justify="right"), justify="right", no_wrap=True)
            columns.append(texts)
    for position, (experiment, _) in enumerate(rows[:MOST_ROWS]):
        values = [setting_of(experiment, name) for name in varying]
        settings = ["–" if value in ("", None) else str(value) for value in values] or [experiment.scheduler]
        table.add_row(*map(Label, settings), *(texts[position] for texts in columns))
    if len(rows) > MOST_ROWS:
        table.caption = f"the first {MOST_ROWS} of {len(rows)} runs; sweep.csv has them all"
    return table


_FIGURES = ("avg_jct_s", "p95_jct_s", "avg_responsiveness_s", "utilisation", "preemptions")
