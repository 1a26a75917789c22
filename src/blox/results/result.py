"""Result: a finished run as columns, and the directory it is kept in.

`experiment.toml` (everything needed to run it again), `jobs.csv`, `summary.json`: the same bytes for the
same experiment, on any machine. `rounds.parquet`, `stints.parquet`: what changed when. `timing.json`:
wall and CPU time, kept apart because they differ every time. Where nodes or jobs may fail, `outages.csv` and
`evictions.csv` say when they did; where jobs belong to several tenants, `tenants.csv` has what each wanted
and got over time; where policies tell why jobs wait, `reasons.parquet` has their words; and where it was
asked for, `decisions.parquet` has what every round decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.results import files
from blox.results.decisions import Decisions
from blox.results.lazy_table import LazyTable
from blox.results.names import default_label, short_name
from blox.results.place import Claim, claimed, repair
from blox.workloads.table import Array


@dataclass(frozen=True, eq=False)
class Result:
    """One run: its experiment, its figures, its tables as columns."""

    label: str
    experiment: dict[str, Any]
    summary: dict[str, Any]
    jobs: Mapping[str, Array]
    rounds: Mapping[str, Array]
    stints: Mapping[str, Array]
    timing: dict[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)  # those that only some runs have
    reasons: Mapping[str, Array] = field(default_factory=files.no_reasons)  # to wait, as policies told them
    decisions: Decisions | None = None  # of every round, where they were traced

    def __repr__(self) -> str:
        figures = ("jobs", "finished", "avg_jct_s", "avg_responsiveness_s", "utilisation", "interruptions")
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
            if len(self.reasons["job"]):
                files.write_parquet(draft / "reasons.parquet", self.reasons)
            if self.decisions is not None:
                files.write_parquet(draft / "decisions.parquet", self.decisions)
            for name, table in self.tables.items():
                files.write_jobs(draft / f"{name}.csv", table)
        return claim.directory

    def only(self, rows: Array) -> Result:
        """The same run with these jobs alone (ascending rows); rounds and summary stay those of the run."""
        rows = np.asarray(rows, dtype=np.int64)

        def those_of(table: Mapping[str, Array]) -> dict[str, Array]:
            here = np.isin(table["job"], rows)
            found = {name: values[here] for name, values in table.items()}
            return {**found, "job": rows.searchsorted(found["job"])}

        jobs = {name: values[rows] for name, values in self.jobs.items()}
        stints, reasons = (LazyTable(partial(those_of, table)) for table in (self.stints, self.reasons))
        return replace(self, jobs=jobs, stints=stints, reasons=reasons)

    def counted(self) -> Result:
        """The same run with the jobs of its window alone."""
        return self.only(np.flatnonzero(self.jobs["in_window"] == 1))

    def by(self, column: str, *, most: int | None = None) -> dict[str, Array]:
        """The figures of the counted jobs, broken down by a column of theirs: columns, a row per group.

        `result.by("tenant")["p95_waited_s"]`; every value of the column is a group, or at most about `most`
        groups are made. Figures are those of the summary that belong to jobs; docs/semantics.md defines them.
        """
        from blox.results.breakdown import breakdown

        return breakdown(self, column, most=most)

    @classmethod
    def open(cls, directory: str | Path) -> Result:
        """A results directory whose figures are read now, and whose tables when they are first asked for."""
        folder = Path(directory)
        experiment = files.read_settings(folder / "experiment.toml")
        summary = files.read_figures(folder / "summary.json")
        timing = files.read_figures(folder / "timing.json", needed=())
        count = summary["submitted"]
        jobs = LazyTable(partial(files.read_jobs, folder / "jobs.csv", count))
        rounds = LazyTable(partial(files.read_rounds, folder / "rounds.parquet"))
        stints = LazyTable(partial(files.read_stints, folder / "stints.parquet", count))
        tables = files.read_tables(folder)
        reasons = LazyTable(partial(files.read_reasons, folder / "reasons.parquet", count))
        traced = folder / "decisions.parquet"
        decisions = Decisions.of_file(traced, count) if traced.is_file() else None
        label = label_of(experiment)
        return cls(label, experiment, summary, jobs, rounds, stints, timing, tables, reasons, decisions)

    @classmethod
    def load(cls, directory: str | Path) -> Result:
        """Reads a results directory back. A file that is damaged is named."""
        folder = Path(directory)
        repair(folder)
        missing = [name for name in files.FILES if not (folder / name).is_file()]
        if missing:
            what = "no such directory" if not folder.is_dir() else f"{missing[0]} is missing"
            several = sorted([*folder.glob("seed-*"), *folder.glob("runs/*")])  # seeds, or a sweep
            fix = f"give one of its runs, such as {several[0]}" if several else _WRITTEN
            raise BloxError(what, where=str(folder), fix=fix)
        found = cls.open(folder)
        return replace(
            found,
            jobs=dict(found.jobs),
            rounds=dict(found.rounds),
            stints=dict(found.stints),
            reasons=dict(found.reasons),
        )


_WRITTEN = "give a directory that blox run --out has written"


def label_of(experiment: Mapping[str, Any]) -> str:
    """What to call a run by itself: its label, or the short name of its preset or scheduler."""
    return str(experiment.get("label") or short_name(default_label(experiment)))


def _check_nameable(experiment: Mapping[str, Any]) -> None:
    """Refuses settings that only this program knows: an experiment.toml must run again by itself."""
    for name, value in experiment.items():
        if name == "auto" and not isinstance(value, str):
            raise BloxError(
                "the objective of auto has a function that is known to this program alone: "
                "experiment.toml could not run it again",
                where="save",
                fix='put it in a file of its own and give objective="./mine.py:function"',
            )
        if not isinstance(value, (str, int, float, Mapping, type(None))):
            cls = type(value).__name__
            raise BloxError(
                f"{name} is {value!r}, and its class {cls} is known to this program alone: "
                "experiment.toml could not run it again",
                where="save",
                fix=f'put {cls} in a file of its own and give {name}="./mine.py:{cls}"',
            )
