"""Replications: one experiment over several seeds, as one run whose figures are means with intervals.

On disk: a folder per seed (`seed-0`, `seed-1`, ...), each a results directory of its own; beside them
`experiment.toml`, which runs them all again, and `intervals.json` with the mean of every figure and its
interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from blox.disk.toml_text import to_toml
from blox.errors import BloxError
from blox.results import files
from blox.results.comparison import interval
from blox.results.lazy_table import LazyTable
from blox.results.result import Result
from blox.results.samples import number
from blox.results.statistics import Interval
from blox.workloads.table import Array

INTERVALS = "intervals.json"
_OWN_OF_A_RUN = ("seed", "label", "provenance")  # what runs over several seeds need not have in common


@dataclass(frozen=True, eq=False)
class Replications:
    """Runs that differ in their seed alone. What it has in common with a `Result` can be read like one's.

    `summary` has the means over the runs, `jobs` the jobs of all of them; `rounds` and `stints` are those of
    the first. `asked` are the seeds that were to run, two or more: where some have failed, `runs` are fewer.
    """

    runs: tuple[Result, ...]
    asked: tuple[int, ...] = ()  # if none are given, the seeds of `runs`

    def __post_init__(self) -> None:
        if not self.runs or max(len(self.runs), len(self.asked)) < 2:
            raise BloxError(
                f"{len(self.runs)} of several seeds", where="Replications", fix="give two runs or more"
            )
        _check_alike(self.runs)
        if not self.asked:
            object.__setattr__(self, "asked", tuple(self.seeds))

    def __repr__(self) -> str:
        found = self.interval("avg_jct_s")
        told = f"{found.estimate:.6g} ± {found.half_width:.3g}" if found else "None"
        return f"Replications({self.label!r}, seeds={self.seeds}, avg_jct_s={told})"

    @property
    def label(self) -> str:
        return self.runs[0].label

    @property
    def seeds(self) -> list[int]:
        return [int(run.experiment["seed"]) for run in self.runs]

    @cached_property
    def experiment(self) -> dict[str, Any]:
        """The settings of all runs together, as `blox run` takes them."""
        first = dict(self.runs[0].experiment)
        shared = first.pop("provenance", {})
        others = [run.experiment.get("provenance", {}) for run in self.runs]
        kept = {key: value for key, value in shared.items() if all(o.get(key) == value for o in others)}
        return {**first, **seed_settings(self.asked), "provenance": kept}

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The mean of every figure; what is no number only if all runs agree; None where a run has none."""
        return {key: _mean([run.summary.get(key) for run in self.runs]) for key in self.runs[0].summary}

    @cached_property
    def jobs(self) -> Mapping[str, Array]:
        """The jobs of every run, one run after another."""
        return LazyTable(self._pooled)

    @property
    def rounds(self) -> Mapping[str, Array]:
        return self.runs[0].rounds

    @property
    def stints(self) -> Mapping[str, Array]:
        return self.runs[0].stints

    @property
    def tables(self) -> Mapping[str, Mapping[str, Array]]:
        return self.runs[0].tables

    @cached_property
    def timing(self) -> dict[str, Any]:
        return {key: _mean([run.timing.get(key) for run in self.runs]) for key in self.runs[0].timing}

    def by(self, column: str, *, most: int | None = None) -> dict[str, Array]:
        """The figures of the counted jobs by a column, means over the seeds: see `Result.by`."""
        from blox.results.breakdown import breakdown

        return breakdown(self, column, most=most)

    def interval(self, figure: str) -> Interval | None:
        """A figure of the summary with its 95 % interval; None where there is none: see `blox.interval`."""
        return interval(self, figure)

    def save(self, directory: str | Path) -> Path:
        """Writes each run into a folder of its own, then what sums them up."""
        for run in self.runs:
            run.save(seed_folder(Path(directory), int(run.experiment["seed"])))
        return self.save_overview(directory)

    def save_overview(self, directory: str | Path) -> Path:
        """Writes what sums up runs that are there already: `experiment.toml` and `intervals.json`."""
        folder = Path(directory)
        files.write_text(folder / "experiment.toml", to_toml(self.experiment))
        files.write_text(folder / INTERVALS, files.json_text(self._intervals()))
        return folder

    @classmethod
    def load(cls, directory: str | Path) -> Replications:
        """Reads the folder of several seeds back; tables of all runs but the first when first asked for."""
        folder = Path(directory)
        seeds = seeds_in(folder)
        if not seeds:
            raise BloxError(
                "it holds no runs over several seeds",
                where=str(folder),
                fix="give a directory that blox run --seeds N --out has written",
            )
        first, *others = (seed_folder(folder, seed) for seed in seeds)
        runs = (Result.load(first), *(Result.open(other) for other in others))
        return cls(runs, tuple(_asked_in(folder)))

    def _pooled(self) -> dict[str, Array]:
        shared = [name for name in self.runs[0].jobs if all(name in run.jobs for run in self.runs)]
        return {name: np.concatenate([run.jobs[name] for run in self.runs]) for name in shared}

    def _intervals(self) -> dict[str, Any]:
        figures = {}
        for key, value in self.summary.items():
            found = self.interval(key)
            bounds = {"low": found.low, "high": found.high} if found else {}
            figures[key] = {"mean": value, **bounds}
        return {"seeds": self.seeds, "level": 0.95, "figures": figures}


def _check_alike(runs: Sequence[Result]) -> None:
    """Refuses runs of the same seed, which are one observation, and runs that differ in other settings."""
    seeds = [int(run.experiment["seed"]) for run in runs]
    if twice := [seed for seed in dict.fromkeys(seeds) if seeds.count(seed) > 1]:
        raise BloxError(
            f"several runs of seed {twice[0]}", where="Replications", fix="give one run of each seed"
        )
    settings = [
        {name: value for name, value in run.experiment.items() if name not in _OWN_OF_A_RUN} for run in runs
    ]
    names = dict.fromkeys(name for each in settings for name in each)
    for name in names:
        values = [each.get(name) for each in settings]
        if other := [value for value in values if value != values[0]]:
            raise BloxError(
                f"runs of {name} {values[0]!r} and {other[0]!r}",
                where="Replications",
                fix="give runs that differ in their seed alone",
            )


def as_one(runs: Sequence[Result], asked: Sequence[int] = ()) -> Result | Replications:
    """Runs that differ in their seed as one; a single one as it is, unless several seeds were asked for."""
    return Replications(tuple(runs), tuple(asked)) if max(len(runs), len(asked)) > 1 else runs[0]


def seed_folder(directory: Path, seed: int) -> Path:
    """Where the run of one seed is kept."""
    return directory / f"seed-{seed}"


def seed_settings(seeds: Sequence[int]) -> dict[str, Any]:
    """Seeds as a file of settings has them: the first and how many, or a list where they have gaps."""
    follow = list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    return {"seed": seeds[0], "seeds": len(seeds)} if follow else {"seed": list(seeds)}


def seeds_in(directory: Path) -> list[int]:
    """The seeds of the runs that are in a folder of several; none where it is not one."""
    return [seed for seed in _asked_in(directory) if seed_folder(directory, seed).exists()]


def _asked_in(directory: Path) -> list[int]:
    """The seeds that a folder of several is for, as its experiment.toml says; none where it is not one."""
    path = directory / "experiment.toml"
    settings = files.read_settings(path) if path.is_file() else {}
    seed, count = settings.get("seed", 0), settings.get("seeds", 1)
    return list(seed) if isinstance(seed, list) else list(range(seed, seed + count)) if count > 1 else []


def load_runs(directory: str | Path) -> list[Result | Replications]:
    """The run in a results directory, one over several seeds, or all those that were compared."""
    folder = Path(directory)
    if (folder / "compare.toml").is_file():
        inside = sorted(path.parent for path in folder.glob("*/experiment.toml"))
        return [run for each in inside for run in load_runs(each)]
    return [Replications.load(folder) if seeds_in(folder) else Result.load(folder)]


def first_run(directory: str | Path) -> tuple[Result, str]:
    """One run to look at, and a note where there are more: of several seeds it is the first."""
    chosen, note = first_folder(Path(directory))
    return Result.load(chosen), note


def first_folder(folder: Path) -> tuple[Path, str]:
    """The directory of that run, and the note."""
    if (folder / "compare.toml").is_file():
        inside = ", ".join(str(path.parent) for path in sorted(folder.glob("*/experiment.toml")))
        raise BloxError("it holds several runs", where=str(folder), fix=f"give one of them: {inside}")
    seeds = seeds_in(folder)
    if not seeds:
        return folder, ""
    chosen = seed_folder(folder, seeds[0])
    return chosen, f"Seed {seeds[0]}, the first of {len(seeds)}: {chosen}."


def _mean(values: list[Any]) -> Any:
    """The mean of numbers; a whole one, or anything else, as it is where all are equal; None otherwise.

    Of tables, the same for every key that all of them have.
    """
    if all(value == values[0] for value in values):
        return values[0]
    if all(isinstance(value, Mapping) for value in values):
        shared = [key for key in values[0] if all(key in value for value in values)]
        return {key: _mean([value[key] for value in values]) for key in shared}
    numbers = [number(value) for value in values if not isinstance(value, bool)]
    found = sum(numbers) / len(values) if len(numbers) == len(values) else float("nan")
    return found if found == found else None
