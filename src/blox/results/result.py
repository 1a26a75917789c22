"""Result: a finished run as columns, and the directory it is kept in.

`experiment.toml` (everything needed to run it again), `jobs.csv`, `summary.json`: the same bytes for the
same experiment, on any machine. `rounds.parquet`, `stints.parquet`: what changed when. `timing.json`:
wall and CPU time, kept apart because they differ every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from blox.errors import BloxError
from blox.results import files
from blox.results.place import Claim, claimed, repair
from blox.workloads.table import Array


class LazyTable(Mapping[str, Array]):
    """Columns that are worked out when first asked for: long to make, and not always wanted."""

    def __init__(self, make: Callable[[], dict[str, Array]]) -> None:
        self._make = make

    @cached_property
    def _columns(self) -> dict[str, Array]:
        return self._make()

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __reduce__(self) -> tuple[object, ...]:
        return (dict, (self._columns,))


@dataclass(frozen=True, eq=False)
class Result:
    """One run: its experiment, its figures, its tables as columns."""

    label: str
    experiment: dict[str, Any]
    summary: dict[str, Any]
    jobs: dict[str, Array]
    rounds: dict[str, Array]
    stints: Mapping[str, Array]
    timing: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        figures = ("jobs", "finished", "avg_jct_s", "avg_responsiveness_s", "utilisation", "preemptions")
        told = ", ".join(f"{name}={self.summary.get(name)!r}" for name in figures)
        return f"Result({self.label!r}, {told})"

    def save(self, directory: str | Path, claim: Claim | None = None) -> Path:
        """Writes the directory in one go: it is there whole, or as it was before.

        `claim` is given by a program that holds the directory already.
        """
        _check_nameable(self.experiment)
        if claim is None:
            with claimed(directory) as claim:
                return self.save(directory, claim)
        with claim.replacement() as draft:
            files.write_settings(draft / "experiment.toml", self.experiment)
            files.write_jobs(draft / "jobs.csv", self.jobs)
            files.write_json(draft / "summary.json", self.summary)
            files.write_json(draft / "timing.json", self.timing)
            files.write_parquet(draft / "rounds.parquet", self.rounds)
            files.write_parquet(draft / "stints.parquet", self.stints)
        return claim.directory

    @classmethod
    def load(cls, directory: str | Path) -> Result:
        """Reads a results directory back. A file that is damaged is named."""
        folder = Path(directory)
        repair(folder)
        missing = [name for name in files.FILES if not (folder / name).is_file()]
        if missing:
            what = "no such directory" if not folder.is_dir() else f"{missing[0]} is missing"
            raise BloxError(what, where=str(folder), fix="give a directory that blox run --out has written")
        experiment = files.read_settings(folder / "experiment.toml")
        summary = files.read_figures(folder / "summary.json")
        timing = files.read_figures(folder / "timing.json", needed=())
        jobs = files.read_jobs(folder / "jobs.csv", summary["submitted"])
        rounds = files.read_rounds(folder / "rounds.parquet")
        stints = files.read_stints(folder / "stints.parquet", len(jobs["job_id"]))
        return cls(label_of(experiment), experiment, summary, jobs, rounds, stints, timing)


def label_of(experiment: Mapping[str, Any]) -> str:
    """What to call a run in tables and legends."""
    if experiment.get("label"):
        return str(experiment["label"])
    return str(experiment.get("compat") or experiment.get("scheduler") or "run")


def _check_nameable(experiment: Mapping[str, Any]) -> None:
    """Refuses settings that only this program knows: an experiment.toml must run again by itself."""
    for name, value in experiment.items():
        if not isinstance(value, (str, int, float, Mapping, type(None))):
            cls = type(value).__name__
            raise BloxError(
                f"{name} is {value!r}, and its class {cls} is known to this program alone: "
                "experiment.toml could not run it again",
                where="save",
                fix=f'put {cls} in a file of its own and give {name}="./mine.py:{cls}"',
            )
