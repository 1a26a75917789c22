"""`blox sweep`: every combination of lists of settings, in parallel, resuming what was finished."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blox.cli import options
from blox.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from blox.experiment.parallel import Outcome
    from blox.experiment.settings import Experiment
    from blox.experiment.sweep import Grid
    from blox.report.run import Run
    from blox.report.sweep_points import Points
    from blox.report.wide_table import WideTable
    from blox.results.comparison import Comparison

MOST_ROWS = 60  # of the table on the terminal; means.csv has them all


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
    auto: options.Auto = None,
    termination: options.Terminations = None,
    performance: options.Performances = None,
    overheads: options.ManyOverheads = None,
    failures: options.ManyFailures = None,
    reservation: options.Reservation = None,
    reports: options.ManyReports = None,
    belief: options.Beliefs = None,
    compat: options.Compats = None,
    load: options.Loads = None,
    seed: options.SeedList = None,
    seeds: options.Seeds = None,
    round_s: options.Rounds = None,
    clock: options.Clock = None,
    window: options.Window = None,
    jobs: options.Jobs = None,
    max_rounds: options.MaxRounds = None,
    apps: options.Apps = None,
    policy_timeout: options.PolicyTimeout = None,
    prices: options.Prices = None,
    power: options.Power = None,
    metric: options.Metrics = None,
    label: options.Labels = None,
    baseline: options.Baseline = None,
    report: options.ReportToo = True,
    processes: options.Processes = None,
    ignore_checksum: options.IgnoreChecksum = False,
) -> None:
    """Run every combination of lists of settings.

    Options under "What runs", --load, --seed and --round take several values, joined with commas or given
    again; a TOML file has lists at its top or under [sweep]. --auto runs beside the lists of policies among
    which it chooses, and once for each combination of others. Each run is saved when it has finished: after
    an interruption, the same command goes on where it was.
    """
    settings = options.settings_of(locals())
    from blox.cli.grids import folder_of_runs, grid_from, tell_failed

    with folder_of_runs(out, "runs", "figures", "sweep.toml", "sweep.csv", "means.csv", "report.html"):
        grid = grid_from(experiment, settings, seeds=seeds, ignore_checksum=ignore_checksum)
        ended = _run_grid(out, grid, report, baseline, processes)
    tell_failed(ended)


def _run_grid(
    out: Path, grid: Grid, report: bool, baseline: str | None, processes: int | None
) -> list[tuple[str, Outcome]]:
    """Runs what differs and is not there yet, and sums the sweep up; how these runs ended, by name."""
    from blox.cli.grids import check_targets, keeping_finished, resume_tasks
    from blox.disk.toml_text import to_toml
    from blox.experiment.parallel import Task
    from blox.experiment.run_folders import run_directory
    from blox.experiment.same_apps import same_apps
    from blox.experiment.sweep import check_all, sweep_csv
    from blox.experiment.traits import distinct
    from blox.report.sweep_points import Layout
    from blox.results.files import write_text

    experiments = same_apps(grid.experiments())
    check_all(experiments)
    Layout.of(grid, experiments).line_called(baseline)
    _note_load(grid)
    # A run that cannot differ from another is run once: under another belief it is shown all the same,
    # under another seed it is not, for it would pass as one more observation.
    same = {each: first for each, first in distinct(experiments).items() if each.seed == first.seed}
    runs = list(dict.fromkeys(same.values()))
    tasks = {each: Task(each, run_directory(out / "runs", each)) for each in runs}
    check_targets(list(tasks.values()))
    write_text(out / "sweep.toml", to_toml(grid.to_table()))
    called = grid.names(experiments)
    names = [_name(each, called) for each in runs]
    with keeping_finished(list(tasks.values()), f"blox sweep {out / 'sweep.toml'} --out {out}"):
        ended = dict(zip(runs, resume_tasks(list(tasks.values()), names, processes)))
    outcomes = [
        replace(ended[first], task=replace(tasks[first], experiment=each)) for each, first in same.items()
    ]
    _finish(out, grid, outcomes, report, baseline, csv=sweep_csv(grid, outcomes))
    return list(zip(names, ended.values()))


def _note_load(grid: Grid) -> None:
    """Says so if the swept load takes the place of one that a workload names itself."""
    from blox.experiment.sweep import own_load

    for workload in grid.axes.get("workload", [grid.base.workload]) if "load" in grid.axes else []:
        if (load := own_load(workload)) is not None and workload != type(grid.base).workload:
            say(f"note: --load replaces the load={load} of {workload}", to_stderr=True)


def _finish(
    out: Path, grid: Grid, outcomes: Sequence[Outcome], report: bool, baseline: str | None, *, csv: str
) -> None:
    """Writes what sums the sweep up, and prints it."""
    from blox.cli.safe_console import SafeConsole
    from blox.report.certainty import certainty, idle_points, jobs_told
    from blox.report.means_csv import means_csv
    from blox.report.sweep_page import points_of, write_sweep_report
    from blox.report.verdicts import of_points
    from blox.results.files import write_text

    if not any(outcome.result for outcome in outcomes):
        return
    points = points_of(grid, outcomes)
    settings = points.settings(grid)
    write_text(out / "sweep.csv", csv)
    write_text(out / "means.csv", means_csv(settings, points.compared, list(points.numbers().values())))
    console = SafeConsole()
    console.print(_table(settings, points.compared))
    told = f"{jobs_told(points.compared)} {certainty(points.compared)}"
    for line in (told, *idle_points(points.compared)):
        console.print(line, highlight=False, markup=False)
    if (verdicts := of_points(points, points.layout.line_called(baseline))) is not None:
        console.print()
        console.print(verdicts.table())
    lines = [f"\nfigures: {out / 'sweep.csv'}, {out / 'means.csv'}"]
    if report:
        write_sweep_report(out / "report.html", grid, outcomes, points, baseline=baseline)
        lines.append(f"report:  {out / 'report.html'}")
        lines.append(_pictures(out / "figures", points, baseline))
    console.print("\n".join(lines), highlight=False, soft_wrap=True, markup=False)


def _pictures(folder: Path, points: Points, baseline: str | None) -> str:
    """Draws the figures for paper; says where they are, or what is missing for them."""
    from blox.errors import BloxError
    from blox.report.sweep_page import shown_measures
    from blox.report.sweep_static import save_sweep_pictures

    try:
        files = save_sweep_pictures(
            folder, points, shown_measures(points), points.layout.line_called(baseline)
        )
    except BloxError as missing:
        return f"note: {missing.what} ({missing.fix})"
    return f"paper:   {len(files)} figures in {folder} (PDF and SVG)"


def _name(experiment: Experiment, names: dict[str, dict[Any, str]]) -> str:
    """A run in the progress display: the settings that vary."""
    from blox.experiment.sweep import setting_of
    from blox.results.result import label_of

    texts = {name: called[setting_of(experiment, name)] for name, called in names.items()}
    words = [text if text[:1].isalpha() else f"{name}={text}" for name, text in texts.items() if text]
    return " ".join(words) or label_of(experiment.to_table())


def _table(settings: Sequence[Mapping[str, str]], runs: Comparison[Run]) -> WideTable:
    """A row per point: the settings that vary but for the seed, and the main figures with their intervals."""
    from blox.report import measures
    from blox.report.table import figures_column
    from blox.report.wide_table import Column, WideTable

    columns = []
    for measure in measures.TERMINAL:
        if measure.key in _FIGURES:
            column = figures_column(measure, runs, marked=False)
            columns.append(Column(column.group, column.head, column.cells[:MOST_ROWS]))
    heads = [name.removesuffix("_s") for name in settings[0]]
    names = [[text or "–" for text in each.values()] for each in settings[:MOST_ROWS]]
    caption = f"the first {MOST_ROWS} of {len(runs)}; means.csv has them all" if len(runs) > MOST_ROWS else ""
    return WideTable(heads, names, columns, caption)


_FIGURES = ("avg_jct_s", "p95_jct_s", "avg_responsiveness_s", "utilisation", "interruptions")
