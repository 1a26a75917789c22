"""Experiments as the command line gives them: a TOML file, or nothing, and options over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from blox.cli.terminal import say
from blox.errors import BloxError
from blox.experiment.parts import DECIDED_BY_PRESET
from blox.experiment.prepared import Prepared
from blox.experiment.settings import Experiment, read_toml
from blox.experiment.sweep import Grid, specs_in
from blox.lookahead.auto import Auto
from blox.results.provenance import check_unchanged, setting_of
from blox.workloads.spec import workload_from_spec

# Settings of which other commands take several values, and the first such command.
_TAKE_LISTS = {
    **dict.fromkeys(("admission", "scheduler", "placement", "termination", "belief", "compat"), "compare"),
    **dict.fromkeys(("workload", "cluster", "performance", "overheads", "failures", "reports"), "sweep"),
}


def experiment_from(
    file: Path | None, options: Mapping[str, Any], *, ignore_checksum: bool = False
) -> Prepared:
    """The experiment of a file with the given options in place of its own, built and checked.

    Options that are None were not given. Unless an option replaces the setting, the files behind the
    settings must be those that the file's provenance speaks of.
    """
    given = {name: value for name, value in options.items() if value is not None}
    decided = [name for name in DECIDED_BY_PRESET if name in given and given.get("compat")]
    if decided:
        raise BloxError(
            f"--{decided[0]} together with --compat",
            where="blox run",
            fix="leave it out: the preset decides it",
        )
    table = {} if file is None else _of_first_seed(read_toml(file))
    several = [name for name, value in table.items() if isinstance(value, list) or name == "sweep"]
    if several:
        raise BloxError(
            f"{several[0]} gives several values, and this is one run",
            where=str(file),
            fix="use `blox compare` or `blox sweep` with this file",
        )
    of_file = Experiment.from_table(table, where=str(file))
    experiment = replace(of_file, **over_auto(of_file, given))
    prepared = experiment.prepare()
    if not ignore_checksum:
        check_files(table, experiment, set(given), where=str(file))
    return prepared


@contextmanager
def several_told(settings: Mapping[str, Any]) -> Iterator[None]:
    """Adds to the refusal of a setting that is a list the command that takes one."""
    try:
        yield
    except BloxError as error:
        for name, command in _TAKE_LISTS.items():
            value = settings.get(name)
            if isinstance(value, str) and len(specs_in(value)) > 1 and value in f"{error.where} {error.what}":
                fix = f"several values are for blox {command} --{name} {value}; or else: {error.fix}"
                raise BloxError(error.what, where=error.where, fix=fix) from None
        raise


def over_auto(experiment: Experiment, given: dict[str, Any]) -> dict[str, Any]:
    """Given settings, of which the options of `auto` replace those of the experiment one by one."""
    if not experiment.auto or not given.get("auto"):
        return given
    return {**given, "auto": Auto.replaced(experiment.auto, by=given["auto"])}


def seeds_from(file: Path | None, seed: int | None, seeds: int | None) -> list[int]:
    """The seeds to run: as many as are asked for, by option or file, from the first one on."""
    table = {} if file is None else read_toml(file)
    kept: dict[str, Any] = {name: value for name, value in table.items() if name in ("seed", "seeds")}
    if seed is not None:
        kept["seed"] = seed
    if seeds is not None:
        kept.pop("seeds", None)
    grid = Grid.from_table(kept, where=str(file))
    if seeds is not None:
        grid = grid.with_seeds(seeds, where="--seeds")
    return [each.seed for each in grid.experiments()]


def _of_first_seed(table: dict[str, Any]) -> dict[str, Any]:
    """The settings of the first of several seeds."""
    first = {"seed": table["seed"][0]} if isinstance(table.get("seed"), list) and table["seed"] else {}
    return {**{name: value for name, value in table.items() if name != "seeds"}, **first}


def check_files(table: Mapping[str, Any], experiment: Experiment, replaced: set[str], *, where: str) -> None:
    """Refuses files that are not those of the table's provenance; `replaced` settings do not count."""
    recorded = table.get("provenance")
    if not isinstance(recorded, Mapping):
        return
    kept = {key: value for key, value in recorded.items() if setting_of(key) not in replaced}
    check_unchanged(kept, experiment.to_table(), workload_from_spec(experiment.workload), where=where)


def note_other_jobs(file: Path, now: Mapping[str, Any]) -> None:
    """Says so if a generator gave other jobs than when the experiment of the file was run."""
    recorded: Mapping[str, Any] = read_toml(file).get("provenance", {})
    before, after = (table.get("workload_sha256") for table in (recorded, now["provenance"]))
    if before is not None and before != after:
        version = recorded.get("blox_version", "another version")
        say(f"note: the jobs are not those of {file}, which blox {version} has drawn", to_stderr=True)
