"""The files of a results directory: how they are written, and read back with every fault named.

What the columns mean stands in docs/semantics.md; how a directory is replaced as a whole, in `place.py`.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from blox.disk.toml_text import to_toml
from blox.disk.whole_file import naming, write_whole
from blox.errors import BloxError, shortened
from blox.recording.decisions import COLUMNS as DECISION_COLUMNS
from blox.recording.recorder import ROUND_COLUMNS
from blox.workloads.extra import TAKEN, numbers_or_text
from blox.workloads.table import Array

T = TypeVar("T")

FILES = ("experiment.toml", "jobs.csv", "summary.json", "timing.json", "rounds.parquet", "stints.parquet")
TABLES = {  # that only some runs have: which columns are texts; the others are numbers
    "outages": ("node", "cause"),
    "evictions": ("job_id", "cause", "node"),
    "choices": ("combination",),
    "tenants": ("tenant",),
}
SOMETIMES = ("reasons.parquet", "decisions.parquet")  # where policies tell why jobs wait; where asked for
# what may be there and still be replaced
OWN = (*FILES, *SOMETIMES, "report.html", *(f"{name}.csv" for name in TABLES))
STINT_COLUMNS = ("job", "gpu", "start_s", "end_s")
REASON_COLUMNS = ("job", "start_s", "end_s", "part", "because")
_WORDS = ("part", "cause", "because", "action")  # columns of Parquet files that hold texts
_JOB_COLUMNS = (
    "job_id", "user", "model", "gpus", "submit_s", "admit_s", "first_start_s", "finish_s", "jct_s",
    "responsiveness_s", "queueing_s", "run_s", "gpu_seconds", "preemptions", "moves", "state", "in_window",
)  # fmt: skip
_UNBOUNDED = ("rho", "app_rho")  # a job without work of its own may have an infinite one
_LARGEST = 1e18  # beyond every time, count and sum of GPU seconds of a run
_GROUPED = "waited_by_gpus"  # figures of jobs by the GPUs they ask for
_FIGURES = ("jobs", "finished", "submitted", "end_s")  # without which a summary is of no use


def write_text(path: Path, text: str) -> None:
    """Writes a file in one go, in a folder that is made if it is not there."""
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def write_settings(path: Path, settings: Mapping[str, Any]) -> None:
    path.write_text(to_toml(settings), encoding="utf-8")


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    path.write_text(json_text(values), encoding="utf-8")


def json_text(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2) + "\n"


def write_jobs(path: Path, jobs: Mapping[str, Array]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(jobs)
        writer.writerows(zip(*(_cells(column) for column in jobs.values())))


def write_parquet(path: Path, table: Mapping[str, Array]) -> None:
    import duckdb

    with duckdb.connect() as connection, path.open("wb") as file:
        connection.execute("SET threads = 1")
        columns = dict(table)  # noqa: F841 - duckdb finds the variable by its name
        options = "FORMAT parquet, USE_TMP_FILE false"
        try:
            connection.execute(f"COPY (SELECT * FROM columns) TO '{_by_number(file)}' ({options})")
        except duckdb.IOException as error:  # it does not say which error of the system it was
            raise OSError(errno.EIO, _first_line(error), str(path)) from None


def read_settings(path: Path) -> dict[str, Any]:
    """The settings of an experiment: values, and tables of values one level deep."""
    settings = _read(path, lambda: tomllib.loads(path.read_text(encoding="utf-8")))
    for name, value in settings.items():
        if isinstance(value, dict) != (name == "provenance"):
            raise _damaged(path, f"{name} is {shortened(repr(value), 100)}")
    return settings


def read_figures(path: Path, needed: Iterable[str] = _FIGURES) -> dict[str, Any]:
    """A JSON file of figures; those that are `needed` are there."""

    def read() -> dict[str, Any]:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("it holds no table of figures")
        return found

    figures = _read(path, read)
    _check_names(path, "figure", needed, figures)
    for name in needed:
        if not isinstance(figures[name], int | float) or not math.isfinite(figures[name]):
            raise _damaged(
                path, f"the figure {name!r} is {shortened(repr(figures[name]), 100)}, not a number"
            )
    groups = figures.get(_GROUPED) or {}
    if not isinstance(groups, dict) or not all(isinstance(each, dict) for each in groups.values()):
        raise _damaged(path, f"{_GROUPED!r} holds no figures by group")
    return figures


def read_jobs(path: Path, count: int) -> dict[str, Array]:
    """The `count` jobs of a run as columns."""

    def read() -> dict[str, Array]:
        with path.open(newline="", encoding="utf-8") as file:
            text = file.read()
        rows = list(csv.reader(io.StringIO(text, newline="")))
        if not text.endswith("\n") or len(rows) != count + 1:
            raise ValueError(f"it ends in line {len(rows)}, and the run has {count:,} jobs")
        for line, row in enumerate(rows, 1):
            if len(row) != len(rows[0]):
                raise ValueError(f"line {line} has {len(row)} cells, not {len(rows[0])}")
        return {name: _column(name, [row[i] for row in rows[1:]]) for i, name in enumerate(rows[0])}

    columns = _read(path, read)
    _check_names(path, "column", _JOB_COLUMNS, columns)
    return columns


def read_rounds(path: Path) -> dict[str, Array]:
    return _read_parquet(path, ROUND_COLUMNS)


def read_stints(path: Path, jobs: int) -> dict[str, Array]:
    """The stints of a run with so many jobs."""
    stints = _read_parquet(path, STINT_COLUMNS)
    _check_jobs(path, stints["job"], jobs)
    return stints


def read_reasons(path: Path, jobs: int) -> dict[str, Array]:
    """What policies told about waiting jobs, of a run with so many; no rows where there is no file."""
    if not path.is_file():
        return no_reasons()
    reasons = _read_parquet(path, REASON_COLUMNS)
    _check_jobs(path, reasons["job"], jobs)
    return reasons


def read_decisions(path: Path, jobs: int, at_s: float | None = None) -> dict[str, Array]:
    """What the rounds of a run with so many jobs decided; `at_s`: the last round at or before that time."""
    where = ""
    if at_s is not None:
        where = f"WHERE time_s = (SELECT max(time_s) FROM file WHERE time_s <= {at_s:.17g}::DOUBLE)"
    decisions = _read_parquet(path, DECISION_COLUMNS, where)
    _check_jobs(path, decisions["job"], jobs)
    return decisions


def read_coded_decisions(path: Path, jobs: int) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """The decisions of all rounds, with numbers for texts, and the texts of each such column.

    A tenth of the memory of `read_decisions`, for programs that look at one round after another.
    """
    import duckdb

    texts = [name for name in DECISION_COLUMNS if name in _WORDS]

    def read() -> tuple[dict[str, Array], dict[str, list[str]]]:
        try:
            with duckdb.connect() as connection, path.open("rb") as file:
                connection.execute("SET threads = 1")
                source = f"read_parquet('{_by_number(file)}')"
                have = [row[0] for row in connection.execute(f"DESCRIBE FROM {source}").fetchall()]
                _check_names(path, "column", DECISION_COLUMNS, have)
                for name in texts:
                    connection.execute(
                        f"CREATE TYPE words_{name} AS ENUM (SELECT DISTINCT {name} FROM {source} ORDER BY 1)"
                    )
                wanted = ", ".join(_coded(name, texts) for name in have)
                columns = connection.execute(f"SELECT {wanted} FROM {source}").fetchnumpy()
                words = {
                    name: connection.execute(f"SELECT enum_range(NULL::words_{name})").fetchall()[0][0]
                    for name in texts
                }
        except duckdb.Error as error:
            raise ValueError(_first_line(error)) from None
        return {name: np.asarray(values) for name, values in columns.items()}, words

    columns, words = _read(path, read)
    _check_jobs(path, columns["job"], jobs)
    return columns, words


def _coded(name: str, texts: Iterable[str]) -> str:
    """A column of decisions in the smallest form that holds it, as SQL."""
    if name in texts:
        return f"enum_code({name}::words_{name})::INTEGER AS {name}"
    return f'"{name}"::FLOAT AS "{name}"' if name.startswith("key_") else f'"{name}"'


def no_reasons() -> dict[str, Array]:
    """The columns of reasons, without any."""
    return {name: np.empty(0, dtype=object if name in _WORDS else np.int64) for name in REASON_COLUMNS}


def read_tables(folder: Path) -> dict[str, dict[str, Array]]:
    """The tables that only some runs have."""
    return {
        name: _read_csv(folder / f"{name}.csv", texts)
        for name, texts in TABLES.items()
        if (folder / f"{name}.csv").is_file()
    }


def _read_csv(path: Path, texts: Iterable[str]) -> dict[str, Array]:
    def read() -> dict[str, Array]:
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        columns = {name: [row[i] for row in rows] for i, name in enumerate(head)}
        return {
            name: np.array(cells, dtype=object if name in texts else np.float64)
            for name, cells in columns.items()
        }

    return _read(path, read)


def _cells(column: Array) -> list[Any]:
    """Numbers in their shortest exact form; nothing where there is no value."""
    if column.dtype.kind != "f":
        return list(column.tolist())
    return ["" if v != v else int(v) if v.is_integer() and abs(v) < 2**53 else v for v in column.tolist()]


def _column(name: str, cells: list[str]) -> Array:
    dtype = TAKEN.get(name)
    if dtype is None:  # of the workload's own, or what a policy has counted
        return numbers_or_text(cells)
    if dtype is object:
        return np.array(cells, dtype=object)
    try:
        if dtype is np.int64:
            return np.array([int(cell) for cell in cells], dtype=np.int64)
        values = np.array([float(cell) if cell else math.nan for cell in cells])
    except (ValueError, OverflowError) as error:
        raise ValueError(f"column {name!r}: {error}") from None
    if name not in _UNBOUNDED and (np.abs(values) > _LARGEST).any():
        raise ValueError(f"column {name!r} holds a number beyond measure")
    return values


def _read_parquet(path: Path, needed: Iterable[str], where: str = "") -> dict[str, Array]:
    """The columns of a file, of all rows or of those `where` a condition about `file` holds."""
    import duckdb

    def read() -> dict[str, Array]:
        try:
            with duckdb.connect() as connection, path.open("rb") as file:
                connection.execute("SET threads = 1")
                table = f"WITH file AS (FROM read_parquet('{_by_number(file)}'))"
                found = connection.execute(f"{table} SELECT * FROM file {where}").fetchnumpy()
        except duckdb.Error as error:
            raise ValueError(_first_line(error)) from None
        return {name: np.asarray(values) for name, values in found.items()}

    columns = _read(path, read)
    _check_names(path, "column", needed, columns)
    for name in needed:
        if name in _WORDS:
            if columns[name].dtype.kind != "O" or not all(isinstance(text, str) for text in columns[name]):
                raise _damaged(path, f"the column {name!r} does not hold texts")
            continue
        if columns[name].dtype.kind not in "iuf":
            raise _damaged(path, f"the column {name!r} does not hold numbers")
        if (np.abs(columns[name]) > _LARGEST).any():
            raise _damaged(path, f"the column {name!r} holds a number beyond measure")
    return columns


def _read(path: Path, how: Callable[[], T]) -> T:
    try:
        return how()
    except RecursionError:
        raise _damaged(path, "it is nested too deeply") from None
    except (ValueError, KeyError, IndexError, csv.Error) as error:
        raise _damaged(path, str(error)) from None


def _check_jobs(path: Path, rows: Array, jobs: int) -> None:
    if len(rows) and not 0 <= rows.min() <= rows.max() < jobs:
        raise _damaged(path, f"it speaks of jobs that the run has not: it has {jobs:,}")


def _check_names(path: Path, kind: str, needed: Iterable[str], found: Iterable[str]) -> None:
    there = list(found)
    absent = [name for name in needed if name not in there]
    if absent:
        raise _damaged(path, f"the {kind} {absent[0]!r} is missing")


def _damaged(path: Path, why: str) -> BloxError:
    return BloxError(
        f"the file is damaged: {why}", where=str(path), fix="run the experiment again (its experiment.toml)"
    )


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split("\n")[0].split())


def _by_number(file: BinaryIO) -> str:
    """A name of an open file in which DuckDB finds no pattern, partition or address, whatever it is called.

    DuckDB reads `run[1]/*.parquet` as a pattern, `job=5/` as a column of its own and `~` as a directory.
    """
    return f"/dev/fd/{file.fileno()}"
