"""What `compare` and `sweep` share: grids from a file and options, running them, telling what failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from blox.cli.experiments import check_files, over_auto
from blox.cli.interrupt import Interrupted
from blox.cli.progress import ManyRuns
from blox.cli.terminal import say
from blox.errors import BloxError
from blox.experiment.cases import Case
from blox.experiment.parallel import Outcome, Task, cores, run_each, run_tasks
from blox.experiment.run_folders import finished_outcome, slug
from blox.experiment.settings import Experiment, read_toml
from blox.experiment.sweep import Grid, chosen_by, values_of
from blox.locale_text import decoded
from blox.lookahead.auto import Auto
from blox.results.place import check_target, claimed_folder
from blox.results.replications import INTERVALS, Replications
from blox.results.result import Result, label_of


def grid_from(
    file: Path | None,
    settings: Mapping[str, Any],
    schedulers: Sequence[str] = (),
    *,
    seeds: int | None = None,
    ignore_checksum: bool = False,
) -> Grid:
    """The grid of a file with the given settings in place of its own; None was not given, a list is an axis.

    `schedulers` are taken where neither names a scheduler, a preset or a list of anything but seeds; beside a
    synthesizer, the policies among which it chooses.
    """
    table = {} if file is None else read_toml(file)
    label, several = settings.get("label"), {k: v for k, v in settings.items() if isinstance(v, list)}
    given = {k: v for k, v in settings.items() if v is not None and k not in several}
    if seeds is None and "seed" in given:
        seeds = table.get("seeds")  # as many as the file says, from another one on
    own = {name: value for name, value in table.items() if name != "seeds" or seeds is None}
    grid = Grid.from_table(own, where=str(file))
    axes = {name: values_of(name, texts) for name, texts in several.items() if texts and name != "label"}
    kept = {name: values for name, values in grid.axes.items() if name not in given}
    labels = tuple(decoded("label", text, where="--label") for text in label or grid.label)
    grid = Grid(replace(grid.base, **over_auto(grid.base, given)), {**kept, **axes}, labels)
    if seeds is not None:
        grid = grid.with_seeds(seeds, where="--seeds")
    if schedulers and not {*grid.axes} - {"seed"} and not grid.base.compat and "scheduler" not in table:
        listed = Auto.of(grid.base.auto) if grid.base.auto else None
        own = {name: list(getattr(listed, name)) for name in chosen_by(grid.base.auto)}
        grid = grid.with_axes(own or {"scheduler": schedulers})
    if not ignore_checksum:
        check_files(table, grid.base, {*given, *axes, *kept}, where=str(file))
    return grid


def check_place(out: Path, *own: str) -> None:
    """Refuses a directory that holds something else than results and `own`."""
    if out.exists() and not out.is_dir():
        raise BloxError("there is a file of that name", where=str(out), fix="give a directory")
    for entry in sorted(out.iterdir()) if out.is_dir() else []:
        if not _is_draft(entry) and entry.name not in own and not _holds_runs(entry):
            raise BloxError(
                f"the directory holds {entry.name!r}, which is not from an earlier run of this command",
                where=str(out),
                fix="give a new directory",
            )


def _is_draft(entry: Path) -> bool:
    """Whether a run that was killed has left it."""
    return entry.name.startswith(".")


def _holds_runs(folder: Path) -> bool:
    """Whether a folder has the results of a run, or runs of several seeds that are not summed up yet."""
    if (folder / "experiment.toml").is_file():
        return True
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    seeds = [
        each for each in inside if each.name.startswith("seed-") and (each / "experiment.toml").is_file()
    ]
    return bool(inside) and all(_is_draft(each) or each in seeds for each in inside)


@contextmanager
def folder_of_runs(out: Path | None, *own: str) -> Iterator[None]:
    """Holds a folder for several runs and the files `own`, so that no other process writes there.

    Refuses one that holds something else, or cannot be written to. None: the runs are not kept.
    """
    if out is None:
        yield
        return
    check_place(out, *own)
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


def names_of_runs(cases: Sequence[Case], names: Sequence[str]) -> list[str]:
    """The name of every run of cases that are called so: with its seed where the case has several."""
    return [
        name if len(case.experiments) == 1 else f"{name} seed={each.seed}"
        for case, name in zip(cases, names)
        for each in case.experiments
    ]


def run_watched(
    tasks: Sequence[Task], names: Sequence[str], processes: int | None, finished: int = 0
) -> list[Outcome]:
    """Runs them with progress; `finished` runs need not be run any more."""
    with ManyRuns(list(names), finished) as watcher:
        return run_tasks(tasks, processes or cores(), watcher)


def run_each_watched(
    tasks: Sequence[Task], names: Sequence[str], processes: int | None, finished: int = 0
) -> Iterator[tuple[int, Outcome]]:
    """The same, one by one as they end; what the caller prints between two of them stands above the bars."""
    with ManyRuns(list(names), finished) as watcher:
        for ended in run_each(tasks, processes or cores(), watcher):
            with watcher.hidden():
                yield ended


def resume_tasks(tasks: Sequence[Task], names: Sequence[str], processes: int | None) -> list[Outcome]:
    """Runs with progress those that were not finished before; how each ended, in the order given."""
    known = {task: outcome for task in tasks if (outcome := finished_outcome(task)) is not None}
    left = {task: name for task, name in zip(tasks, names) if task not in known}
    check_targets(list(left))
    if known:
        say(f"{len(known)} of {len(tasks)} runs were finished before", to_stderr=True)
    ended = dict(zip(left, run_watched(list(left), list(left.values()), processes, len(known))))
    return [known.get(task) or ended[task] for task in tasks]


def run_cases(cases: Sequence[Case], names: Sequence[str], processes: int | None) -> list[list[Outcome]]:
    """Runs every seed of every case, with progress; how they ended, by case."""
    for case in cases:
        if case.directory is not None and len(case.experiments) > 1:
            check_place(case.directory, "experiment.toml", INTERVALS)
    tasks = [task for case in cases for task in case.tasks()]
    outcomes = iter(resume_tasks(tasks, names_of_runs(cases, names), processes))
    return [[next(outcomes) for _ in case.experiments] for case in cases]


def finished_cases(
    cases: Sequence[Case], outcomes: Sequence[Sequence[Outcome]]
) -> list[Result | Replications]:
    """Each case with a finished run; one over several seeds has its means and intervals beside its runs."""
    found = []
    for case, ended in zip(cases, outcomes):
        run = case.gathered(ended)
        if run is not None:
            found.append(run)
        if isinstance(run, Replications) and case.directory is not None:
            run.save_overview(case.directory)
    return found


@contextmanager
def keeping_finished(tasks: Sequence[Task], again: str) -> Iterator[None]:
    """When interrupted: says how many runs are finished and kept, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        done = sum(finished_outcome(task) is not None for task in tasks)
        if not any(task.directory for task in tasks):
            raise
        raise Interrupted(
            f"interrupted: {done} of {len(tasks)} runs are finished and kept\n  to go on: {again}"
        ) from None


def note_same_runs(experiments: Sequence[Experiment], cases: Sequence[Case]) -> None:
    """Says so if some of the runs cannot differ from others, and are left out."""
    ran = sum(len(case.experiments) for case in cases)
    if ran == len(experiments):
        return
    seeds = max(len(case.experiments) for case in cases) < len({each.seed for each in experiments})
    why = "nothing is drawn by a seed here" if seeds else "beliefs differ that no policy of theirs reads"
    left_out = f"{len(experiments) - ran} of {len(experiments)} runs would give what others give"
    say(f"note: {left_out}, and are left out: {why}", to_stderr=True)


def tell_failed(runs: Sequence[tuple[str, Outcome]]) -> None:
    """Tells which of these named runs failed and why, and ends with exit code 2; 1 where blox is at fault."""
    failed = [(name, outcome) for name, outcome in runs if outcome.error is not None]
    if not failed:
        return
    for name, outcome in failed:
        assert outcome.error is not None
        say(f"{outcome.trace or f'error: {outcome.error.text()}'}\n  run: {name}", to_stderr=True)
    say(f"{len(failed)} of {len(runs)} runs failed", to_stderr=True)
    raise typer.Exit(1 if any(outcome.trace for _, outcome in failed) else 2)
