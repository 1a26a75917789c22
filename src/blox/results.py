"""Result: a finished run as columns, and the directory it is kept in.

`experiment.toml` (everything needed to run it again), `jobs.csv`, `summary.json`: the same bytes for the
same experiment, on any machine. `rounds.parquet`, `stints.parquet`: what changed when. `timing.json`:
wall and CPU time, kept apart because they differ every time.
"""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.toml_text import to_toml
from blox.workloads.table import Array

_TEXT = ("job_id", "user", "tenant", "model", "state")
_WHOLE = ("gpus", "preemptions", "moves", "promotions", "in_window", "app")
FILES = ("experiment.toml", "jobs.csv", "summary.json", "timing.json", "rounds.parquet", "stints.parquet")


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

    def save(self, directory: str | Path) -> Path:
        """Writes the directory in one go: it is there whole, or as it was before."""
        target = Path(directory)
        check_target(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            (draft / "experiment.toml").write_text(to_toml(self.experiment))
            _write_jobs(draft / "jobs.csv", self.jobs)
            (draft / "summary.json").write_text(_json(self.summary))
            (draft / "timing.json").write_text(_json(self.timing))
            _write_parquet(draft / "rounds.parquet", self.rounds)
            _write_parquet(draft / "stints.parquet", self.stints)
            draft.chmod(0o755)
            if target.exists():
                old = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
                os.replace(target, old / "was")
                os.replace(draft, target)
                shutil.rmtree(old)
            else:
                os.replace(draft, target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return target

    @classmethod
    def load(cls, directory: str | Path) -> Result:
        """Reads a results directory back."""
        folder = Path(directory)
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            what = "no such directory" if not folder.is_dir() else f"{missing[0]} is missing"
            raise BloxError(what, where=str(folder), fix="give a directory that blox run --out has written")
        try:
            experiment = tomllib.loads((folder / "experiment.toml").read_text())
            summary = json.loads((folder / "summary.json").read_text())
            timing = json.loads((folder / "timing.json").read_text())
            jobs = _read_jobs(folder / "jobs.csv")
        except (ValueError, KeyError) as error:
            raise BloxError(
                f"cannot be read: {error}", where=str(folder), fix="run the experiment again"
            ) from None
        rounds, stints = (_read_parquet(folder / f"{name}.parquet") for name in ("rounds", "stints"))
        return cls(label_of(experiment), experiment, summary, jobs, rounds, stints, timing)


def label_of(experiment: Mapping[str, Any]) -> str:
    """What to call a run in tables and legends."""
    if experiment.get("label"):
        return str(experiment["label"])
    return str(experiment.get("compat") or experiment.get("scheduler") or "run")


def check_target(target: Path) -> None:
    """Refuses to overwrite anything but earlier results."""
    if target.is_dir() and any(target.iterdir()) and not (target / "experiment.toml").is_file():
        raise BloxError(
            "the directory is not empty and holds no earlier results",
            where=str(target),
            fix="give a new directory, or an earlier results directory to replace",
        )
    if target.exists() and not target.is_dir():
        raise BloxError("there is a file of that name", where=str(target), fix="give a directory")


def write_text(path: Path, text: str) -> None:
    """Writes a file in one go: it is there whole, or as it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2) + "\n"


def _write_jobs(path: Path, jobs: Mapping[str, Array]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(jobs)
        writer.writerows(zip(*(_cells(column) for column in jobs.values())))


def _cells(column: Array) -> list[Any]:
    """Numbers in their shortest exact form; nothing where there is no value."""
    if column.dtype.kind != "f":
        return list(column.tolist())
    return ["" if v != v else int(v) if v.is_integer() and abs(v) < 2**53 else v for v in column.tolist()]


def _read_jobs(path: Path) -> dict[str, Array]:
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    columns: dict[str, Array] = {}
    for i, name in enumerate(rows[0]):
        cells = [row[i] for row in rows[1:]]
        if name in _TEXT:
            columns[name] = np.array(cells, dtype=object)
        elif name in _WHOLE:
            columns[name] = np.array([int(cell) for cell in cells], dtype=np.int64)
        else:
            columns[name] = np.array([float(cell) if cell else math.nan for cell in cells])
    return columns


def _write_parquet(path: Path, table: Mapping[str, Array]) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        columns = dict(table)  # noqa: F841 - duckdb finds the variable by its name
        connection.execute(f"COPY (SELECT * FROM columns) TO '{_quoted(path)}' (FORMAT parquet)")


def _read_parquet(path: Path) -> dict[str, Array]:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        found = connection.execute(f"SELECT * FROM read_parquet('{_quoted(path)}')").fetchnumpy()
    return {name: np.asarray(values) for name, values in found.items()}


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
