"""Writing traces: our own CSV, and the formats of other systems that can hold what a job table holds.

Every float is written with all its digits, so that what is written reads back as the same numbers.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.workloads.table import COLUMNS, Array, JobTable

PHILLY_START = datetime(2017, 10, 1, tzinfo=UTC)  # any date: the reader counts from the first job


@dataclass(frozen=True)
class Written:
    """A trace as text, and what the format could not hold or had to be given."""

    text: str
    notes: tuple[str, ...]


def check_name(path: str) -> None:
    """Refuses the name of a file of another form than all traces are written in: text, a job per line."""
    suffix = Path(path.removesuffix(".gz")).suffix
    if suffix not in ("", ".csv", ".txt"):
        raise BloxError(
            f"no trace can be written as {suffix!r}", where=path, fix="let its name end in .csv or .csv.gz"
        )


def write_trace(table: JobTable, to: str = "csv") -> Written:
    """The table in the named format."""
    if to not in WRITERS:
        raise BloxError(f"no trace can be written as {to!r}", where="--to", fix=suggestion(to, WRITERS))
    return WRITERS[to](table)


def cell(value: Any) -> str:
    """A value as it is written: nothing for NaN, whole numbers without a point, floats with all digits."""
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


def _csv(table: JobTable) -> Written:
    names = [*(name for name in COLUMNS if name in table.columns), *table.extra]
    return Written(_text(names, [table.column(name) for name in names]), ())


def _blox(table: JobTable) -> Written:
    ids, notes = _whole_ids(table)
    duration, iterations = table.column("duration_s"), table.column("iterations")
    unknown = np.isnan(iterations)
    step = np.where(unknown | np.isnan(table.column("iteration_s")), 1.0, table.column("iteration_s"))
    if unknown.any():
        notes.append(f"{_jobs(unknown)} without iterations: one per second of duration_s is written")
    model = table.column("model")
    order = {name: number for number, name in enumerate(dict.fromkeys(model))}
    columns = {
        "job_id": ids,
        "arrival_s": table.column("submit_s"),
        "num_gpus": table.column("gpus"),
        "total_iterations": np.where(unknown, duration, iterations),
        "iteration_time_s": step,
        "duration_s": duration,
        "class_id": np.array([order[name] for name in model], dtype=np.int64),
        "model": model,
    }
    return Written(
        _text(columns, columns.values()), (*notes, *_lost(table, "model", "iterations", "iteration_s"))
    )


def _tiresias(table: JobTable) -> Written:
    ids, notes = _whole_ids(table)
    submit, submit_notes = _whole_seconds(table, "submit_s", least=0)
    duration, duration_notes = _whole_seconds(table, "duration_s", least=1)
    iterations = table.column("iterations")
    unknown = np.isnan(iterations)
    if unknown.any():
        notes.append(f"{_jobs(unknown)} without iterations: one per second of duration is written")
    columns = {
        "job_id": ids,
        "num_gpu": table.column("gpus"),
        "submit_time": submit,
        "iterations": np.maximum(np.round(np.where(unknown, duration, iterations)), 1),
        "model_name": table.column("model"),
        "duration": duration,
        "interval": np.append(np.diff(submit), 0) if len(table) else submit,
    }
    lost = _lost(table, "model", "iterations", "iteration_s")
    return Written(_text(columns, columns.values()), (*notes, *submit_notes, *duration_notes, *lost))


def _elasticflow(table: JobTable) -> Written:
    columns = {"job_id": table.column("job_id"), "submission_time": table.column("submit_s")}
    extra = {
        "num_iteration": "iterations",
        "model_name": "model",
        "deadline": "deadline_s",
        "batch_size": "batch_size",
    }
    columns |= {theirs: table.columns[ours] for theirs, ours in extra.items() if ours in table.columns}
    columns |= {"duration": table.column("duration_s"), "num_gpu": table.column("gpus")}
    return Written(_text(columns, columns.values()), tuple(_lost(table, *extra.values(), "iteration_s")))


def _philly(table: JobTable) -> Written:
    submit, notes = _whole_seconds(table, "submit_s", least=0)
    duration, gpus = table.column("duration_s"), table.column("gpus")
    stamps = [(PHILLY_START + timedelta(seconds=s)).strftime("%Y-%m-%d %H:%M:%S") for s in submit.tolist()]
    columns: dict[str, Any] = {
        "timestamp": stamps,
        "duration": duration,
        "num_gpus": gpus,
        "gpu_time": duration * gpus,
        "cluster": table.column("tenant"),
    }
    dates = f"dates count from {PHILLY_START:%Y-%m-%d}; job ids are not written, the format has none"
    return Written(_text(columns, columns.values()), (dates, *notes, *_lost(table, "tenant")))


WRITERS: dict[str, Callable[[JobTable], Written]] = {
    "csv": _csv,
    "blox": _blox,
    "tiresias": _tiresias,
    "elasticflow": _elasticflow,
    "philly": _philly,
}


def _text(names: Iterable[str], columns: Iterable[Any]) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    cells = [list(map(cell, c.tolist() if isinstance(c, np.ndarray) else c)) for c in columns]
    writer.writerows(zip(*cells))
    return stream.getvalue()


def _whole_ids(table: JobTable) -> tuple[Array, list[str]]:
    ids = table.column("job_id")
    if all(str(i).isdecimal() for i in ids.tolist()):
        return ids, []
    return np.arange(len(table)), [
        "job ids are not whole numbers: jobs are numbered from 0 in order of submission"
    ]


def _whole_seconds(table: JobTable, name: str, *, least: int) -> tuple[Array, list[str]]:
    values = table.column(name)
    rounded = np.maximum(np.round(values), least).astype(np.int64)
    changed = rounded != values
    return rounded, [f"{name} of {_jobs(changed)} rounded to whole seconds"] if changed.any() else []


def _jobs(which: Array) -> str:
    count = int(np.count_nonzero(which))
    return f"{count:,} {'job' if count == 1 else 'jobs'}"


def _lost(table: JobTable, *held: str) -> list[str]:
    kept = {c.name for c in COLUMNS.values() if c.required} | set(held)
    lost = [name for name in (*table.columns, *table.extra) if name not in kept]
    return [f"not written, the format has no place for them: {', '.join(lost)}"] if lost else []
