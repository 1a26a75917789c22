"""The Standard Workload Format of the Parallel Workloads Archive, version 2.2: 18 numbers per job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.extra import texts
from blox.workloads.limits import whole
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array
from blox.workloads.text_files import read_text

FIELDS = (
    *("job", "submit", "wait", "run", "allocated", "cpu_time", "memory_used", "processors", "limit"),
    *("memory", "status", "user", "group", "executable", "queue", "partition", "after", "think_time"),
)
_PARTS = (2, 3, 4)  # states of lines about a part of a job that was checkpointed


@register.reader("swf")
@dataclass(frozen=True)
class Swf(TraceReader):
    """Reads a log or model of the Parallel Workloads Archive; a processor is taken for a GPU.

    `per_gpu`: so many processors make up one GPU, rounded up. Fields that are -1 are not known.
    """

    per_gpu: int = 1

    required: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[Names] = {
        "job_id": "the job number",
        "submit_s": "the submit time",
        "gpus": "the number of processors",
        "duration_s": "the run time",
        "limit_s": "the requested time",
    }
    default_performance: ClassVar[str] = "duration"
    assumptions: ClassVar[tuple[str, ...]] = (
        "a processor counts as a GPU; failed and cancelled jobs are kept if they ran",
        "the requested time is the time limit (--belief limit); the group is the tenant",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("per_gpu", self.per_gpu, 1)

    def rows(self) -> SourceRows:
        """Lines that begin with a semicolon are comments; every other has 18 fields."""
        cells, lines, ragged = list[list[str]](), list[int](), dict[int, str]()
        for number, line in enumerate(read_text(self.path).splitlines(), 1):
            fields = line.split()
            if not fields or fields[0].startswith(";"):
                continue
            if len(fields) != len(FIELDS):
                ragged[len(lines)] = f"{len(fields)} fields in this line, {len(FIELDS)} wanted"
                fields = (fields + ["-1"] * len(FIELDS))[: len(FIELDS)]
            cells.append(fields)
            lines.append(number)
        columns = dict(zip(FIELDS, map(list, zip(*cells)))) if cells else {name: [] for name in FIELDS}
        rows = SourceRows(self.path, columns, lines)
        wrong = np.zeros(len(rows), dtype=bool)
        wrong[list(ragged)] = True
        rows.fault(wrong, lambda row: ragged[row], "see the definition of the Standard Workload Format")
        rows.kept &= ~wrong
        return rows

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        status = rows.number("status")
        rows.leave_out(np.isin(status, _PARTS), "a part of a job, which has a line of its own")
        run, wait, submit = (rows.number(name) for name in ("run", "wait", "submit"))
        rows.leave_out(run <= 0, "it never ran, or for less than half a second")
        held, asked = rows.whole("allocated"), rows.whole("processors")
        processors = np.where(held > 0, held, asked)
        rows.leave_out(processors <= 0, "its number of processors is not known")
        limit, memory_kb = rows.number("limit"), rows.number("memory")
        started = np.where(wait >= 0, submit + wait, np.nan)
        return {
            "job_id": rows.text("job"),
            "submit_s": submit,
            "logged_start_s": started,
            "gpus": np.ceil(processors / self.per_gpu),
            "duration_s": run,
            "limit_s": np.where(limit > 0, limit, np.nan),
            "memory_gb": np.where(memory_kb > 0, memory_kb * processors / 1024**2, np.nan),
            "user": _named(rows, "user"),
            "tenant": _named(rows, "group"),
        }

    def own_columns(self, rows: SourceRows) -> dict[str, Array]:
        """`queue` and `partition`, which are numbers in the file."""
        return {name: _named(rows, name) for name in ("queue", "partition")}


def _named(rows: SourceRows, name: str) -> Array:
    """Numbers that stand for names; -1 is none."""
    return texts(["" if cell == "-1" else cell for cell in rows.columns[name]])
