"""`blox run --seeds N`: one experiment over several seeds, in parallel, resuming what was finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from blox.cli.figures import Tables
from blox.cli.grids import (
    finished_cases,
    folder_of_runs,
    keeping_finished,
    names_of,
    names_of_runs,
    note_same_runs,
    run_cases,
    tell_failed,
)
from blox.cli.show import show_runs, written
from blox.errors import BloxError
from blox.experiment.cases import cases_of
from blox.experiment.parts import backend_of, real_speedup
from blox.experiment.settings import Experiment
from blox.results.replications import INTERVALS


def replicate(
    experiment: Experiment,
    seeds: Sequence[int],
    out: Path | None,
    *,
    report: bool,
    processes: int | None,
    tables: Tables,
) -> None:
    """Runs every seed, writes a folder for each into `out` and what sums them up, and prints the means."""
    if real_speedup(backend_of(experiment)) is not None:
        raise BloxError(
            "several seeds in real time: the runs would slow each other down",
            where="--seeds",
            fix="run them one after the other, or leave --backend out",
        )
    experiments = [replace(experiment, seed=seed) for seed in seeds]
    cases = cases_of(experiments) if out is None else [case.into(out) for case in cases_of(experiments)]
    names = names_of([case.experiment for case in cases])
    tasks = [task for case in cases for task in case.tasks()]
    several = out if len(tasks) > 1 else None  # a single run claims its directory itself
    with folder_of_runs(several, "experiment.toml", INTERVALS, "report.html"):
        note_same_runs(experiments, cases)
        with keeping_finished(tasks, "give the same command again"):
            outcomes = run_cases(cases, names, processes)
        runs = finished_cases(cases, outcomes)
        if out is not None and report and runs:
            from blox.report.page import write_report

            write_report(out / "report.html", runs, by=tables.by, measures=tables.measures)
    if runs:
        show_runs(runs)
        tables.show(runs)
    if out is not None and runs:
        written(out, report)
    ended = [outcome for each in outcomes for outcome in each]
    tell_failed(list(zip(names_of_runs(cases, names), ended)))
