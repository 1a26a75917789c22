"""What `compare` and `sweep` share: grids from a file and options, running them, telling what failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from blox.cli.experiments import check_files
from blox.cli.progress import ManyRuns
from blox.cli.terminal import say
from blox.errors import BloxError
from blox.experiment.parallel import Outcome, Task, cores, run_all
from blox.experiment.settings import Experiment, read_toml
from blox.experiment.sweep import Grid, slug, values_of
from blox.results.place import check_target, claimed_folder
from blox.results.result import Result, label_of


def grid_from(
    file: Path | None,
    single: Mapping[str, Any],
    several: Mapping[str, Sequence[str] | None],
    *,
    schedulers: Sequence[str] = (),
    ignore_checksum: bool = False,
) -> Grid:
    """The grid of a file with the given options in place of its own; None was not given.

    `schedulers` are taken where neither names a scheduler, a preset or a list of anything.
    """
    table = {} if file is None else read_toml(file)
    grid = Grid.from_table(table, where=str(file))
    given = {name: value for name, value in single.items() if value is not None}
    axes = {name: values_of(name, texts) for name, texts in several.items() if texts}
    kept = {name: values for name, values in grid.axes.items() if name not in given}
    grid = Grid(replace(grid.base, **given), {**kept, **axes})
    if schedulers and not grid.axes and not grid.base.compat and "scheduler" not in table:
        grid = grid.with_axes({"scheduler": schedulers})
    if not ignore_checksum:
        check_files(table, grid.base, {*given, *axes, *kept}, where=str(file))
    return grid


@contextmanager
def folder_of_runs(out: Path | None, *own: str) -> Iterator[None]:
    """Holds a folder for several runs and the files `own`, so that no other process writes there.

    Refuses one that holds something else, or cannot be written to. None: the runs are not kept.
    """
    if out is None:
        yield
        return
    if out.exists() and not out.is_dir():
        raise BloxError("there is a file of that name", where=str(out), fix="give a directory")
    for entry in sorted(out.iterdir()) if out.is_dir() else []:
        draft = entry.name.startswith(".")  # of a run that was killed
        if not draft and entry.name not in own and not (entry / "experiment.toml").is_file():
            raise BloxError(
                f"the directory holds {entry.name!r}, which is not from an earlier run of this command",
                where=str(out),
                fix="give a new directory",
            )
    with claimed_folder(out):
        yield


def check_targets(tasks: Sequence[Task]) -> None:
    """Refuses, before anything runs, to put results where something else is kept."""
    for task in tasks:
        if task.directory is not None:
            check_target(task.directory)


def names_of(experiments: Sequence[Experiment]) -> list[str]:
    """One short name per run, each different, also as part of a path."""
    from blox.report.labels import labels

    tables = [experiment.to_table() for experiment in experiments]
    names = labels([Result(label_of(table), table, {}, {}, {}, {}) for table in tables])
    taken: set[str] = set()
    unique = []
    for name in names:
        number, candidate = 1, name
        while slug(candidate).lower() in taken:
            number += 1
            candidate = f"{name} {number}"
        taken.add(slug(candidate).lower())
        unique.append(candidate)
    return unique


def run_tasks(
    tasks: Sequence[Task], names: Sequence[str], processes: int | None, finished: int = 0
) -> list[Outcome]:
    """Runs them with progress; `finished` runs need not be run any more."""
    with ManyRuns(list(names), finished) as watcher:
        return run_all(tasks, processes or cores(), watcher)


def failures(outcomes: Sequence[Outcome]) -> None:
    """Tells what failed and ends with exit code 2; 1 where blox itself is at fault."""
    failed = [outcome for outcome in outcomes if outcome.error is not None]
    if not failed:
        return
    for outcome in failed:
        assert outcome.error is not None
        say(outcome.trace or f"error: {outcome.error.text()}", to_stderr=True)
    say(f"{len(failed)} of {len(outcomes)} runs failed", to_stderr=True)
    raise typer.Exit(1 if any(outcome.trace for outcome in failed) else 2)
