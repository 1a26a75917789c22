"""`blox compare`: several schedulers on the same workload, in parallel, in one table and one report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from blox.cli import figures, options
from blox.cli.calibrate import no_history, show_calibration, write_calibration

if TYPE_CHECKING:
    from pathlib import Path

    from blox.experiment.parallel import Outcome
    from blox.experiment.sweep import Grid
    from blox.report.run import Run
    from blox.results.comparison import Comparison

USUAL = ("fifo", "srtf", "las")  # compared where no scheduler is named


def compare(
    experiment: options.Settings = None,
    workload: options.Workload = None,
    cluster: options.Cluster = None,
    admission: options.Admissions = None,
    scheduler: options.Schedulers = None,
    placement: options.Placements = None,
    auto: options.Auto = None,
    termination: options.Terminations = None,
    performance: options.Performance = None,
    overheads: options.Overheads = None,
    failures: options.Failures = None,
    reservation: options.Reservation = None,
    reports: options.Reports = None,
    belief: options.Beliefs = None,
    compat: options.Compats = None,
    round_s: options.Round = None,
    clock: options.Clock = None,
    window: options.Window = None,
    jobs: options.Jobs = None,
    seed: options.Seed = None,
    seeds: options.Seeds = None,
    max_rounds: options.MaxRounds = None,
    apps: options.Apps = None,
    policy_timeout: options.PolicyTimeout = None,
    prices: options.Prices = None,
    power: options.Power = None,
    metric: options.Metrics = None,
    by: options.By = None,
    measures: options.Measures = None,
    table: options.Tables = None,
    history: options.History = True,
    calibrate: options.Calibrate = False,
    label: options.Labels = None,
    out: options.Out = None,
    report: options.ReportToo = True,
    processes: options.Processes = None,
    ignore_checksum: options.IgnoreChecksum = False,
) -> None:
    """Run several schedulers on the same workload and compare them.

    --scheduler, --admission, --placement, --termination, --belief and --compat take several values, joined
    with commas or given again; every combination runs, those that cannot differ once. A TOML file may have
    lists for them. Presets of --compat decide all policies and run beside the combinations, and so does
    --auto, which chooses among the policies that it lists; given alone, it runs beside every combination of
    these. Where nothing of this is given, fifo, srtf and las are compared. A trace that says when its jobs
    really started has a row of its own; --calibrate says how close each run comes to it. With --seeds,
    figures are means with 95 % intervals. With --out, what was finished is not run again.
    """
    settings = options.settings_of(locals())
    from blox.cli.experiments import several_told
    from blox.cli.grids import folder_of_runs, grid_from, tell_failed

    with folder_of_runs(out, "compare.toml", "compare.csv", "calibration.csv", "report.html"):
        tables = figures.Tables.of(by, table, measures)
        grid = grid_from(experiment, settings, USUAL, seeds=seeds, ignore_checksum=ignore_checksum)
        wanted = Wanted(report, processes, tables, history, calibrate)
        with several_told(settings):
            runs, ended = _run_grid(grid, out, wanted)
    if runs:
        _show(runs, out, wanted)
    tell_failed(ended)


@dataclass(frozen=True)
class Wanted:
    """What a comparison is to give beside its figures, and by how many processes."""

    report: bool
    processes: int | None
    tables: figures.Tables
    history: bool
    calibrate: bool


def _run_grid(
    grid: Grid, out: Path | None, wanted: Wanted
) -> tuple[Comparison[Run], list[tuple[str, Outcome]]]:
    """Runs what differs, saves what sums it up; the runs that finished, and how all ended, by name."""
    from blox.cli.grids import (
        finished_cases,
        keeping_finished,
        names_of,
        names_of_runs,
        note_same_runs,
        run_cases,
    )
    from blox.disk.toml_text import to_toml
    from blox.experiment.cases import cases_of
    from blox.experiment.history import history_of
    from blox.experiment.run_folders import slug
    from blox.experiment.same_apps import same_apps
    from blox.experiment.sweep import check_all
    from blox.report.means_csv import comparison_csv
    from blox.results.comparison import Comparison
    from blox.results.files import write_text

    experiments = same_apps(grid.experiments())
    happened = history_of(experiments) if wanted.history else None
    if wanted.calibrate and happened is None:
        raise no_history(experiments[0].workload)
    experiments = [*([] if happened is None else [happened]), *experiments]
    check_all(experiments)
    wanted.tables.check(experiments)
    cases = cases_of(experiments)
    names = names_of([case.experiment for case in cases])
    if out is not None:
        cases = [case.into(out / slug(name)) for case, name in zip(cases, names)]
    note_same_runs(experiments, cases)
    with keeping_finished([task for case in cases for task in case.tasks()], "give the same command again"):
        outcomes = run_cases(cases, names, wanted.processes)
    runs: Comparison[Run] = Comparison(finished_cases(cases, outcomes))
    if out is not None and runs:  # before anything is printed: the reader of the output may stop reading
        write_text(out / "compare.toml", to_toml(grid.to_table()))
        write_text(out / "compare.csv", comparison_csv(runs))
        more = write_calibration(out, runs) if wanted.calibrate else []
        if wanted.report:
            from blox.report.page import write_report

            tables = wanted.tables
            write_report(out / "report.html", runs, by=tables.by, measures=tables.measures, more=more)
    ended = [outcome for each in outcomes for outcome in each]
    return runs, list(zip(names_of_runs(cases, names), ended))


def _show(runs: Comparison[Run], out: Path | None, wanted: Wanted) -> None:
    """Prints the tables, and where the files are."""
    from blox.cli.show import show_runs, written

    show_runs(runs)
    wanted.tables.show(runs)
    if wanted.calibrate:
        show_calibration(runs)
    if out is not None:
        written(out, wanted.report)
