"""Alibaba's PAI trace (2020): a table of jobs and a table of their tasks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from blox.errors import BloxError
from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows, read_delimited
from blox.workloads.table import Array
from blox.workloads.text_files import read_text, require_file, user_path

# the columns as the trace's own *.header files list them; used where those files are absent
JOB_COLUMNS = ("job_name", "inst_id", "user", "status", "start_time", "end_time")
TASK_COLUMNS = (
    "job_name",
    "task_name",
    "inst_num",
    "status",
    "start_time",
    "end_time",
    "plan_cpu",
    "plan_mem",
    "plan_gpu",
    "gpu_type",
)


@register.reader("pai")
@dataclass(frozen=True)
class Pai(TraceReader):
    """Reads `pai_job_table.csv` and, beside it, `pai_task_table.csv`.

    `path` is the folder or the table of jobs. A job's GPUs are instances x plan_gpu / 100 summed over its
    tasks, rounded up; share_milli keeps the part of each that it asked for.
    """

    required: ClassVar[tuple[str, ...]] = JOB_COLUMNS
    names: ClassVar[Names] = {"job_id": "job_name", "submit_s": "start_time"}
    relative: ClassVar[bool] = False
    assumptions: ClassVar[tuple[str, ...]] = (
        "start_time is the submission, end_time - start_time the duration: waiting cannot be told apart",
        "plan_gpu and plan_cpu are per cent of one GPU or core, per instance; plan_mem is GB per instance",
    )

    def rows(self) -> SourceRows:
        return _table(self._job_table(), JOB_COLUMNS)

    def files(self) -> list[Path]:
        found = [self._job_table(), self._task_table()]
        return [*found, *(h for h in map(_header_file, found) if h is not None)]

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        tasks = _task_sums(_table(self._task_table(), TASK_COLUMNS))
        rows.leave_out(rows.empty("start_time"), "no start_time, it never ran")
        rows.leave_out(rows.empty("end_time"), "no end_time, it was still running")
        submit = rows.number("start_time")
        duration = rows.number("end_time") - submit
        rows.leave_out(duration <= 0, "it ended when it started, or before")
        names = rows.text("job_name")
        nothing = (0.0, 0.0, 0.0, "")
        sums = [tasks.get(name, nothing) for name in names]
        hundredths, cpu, memory = (np.array([s[i] for s in sums], dtype=np.float64) for i in range(3))
        rows.leave_out(hundredths == 0, "its tasks ask for no GPU")
        gpus = np.maximum(np.ceil(hundredths / 100), 1)
        share = np.ceil(hundredths * 10 / gpus)
        parts = int(np.count_nonzero(rows.kept & (share < 1000)))
        if parts:
            rows.notes.append(
                f"{parts:,} jobs ask for parts of GPUs and are given whole ones; share_milli keeps the part"
            )
        types = np.empty(len(rows), dtype=object)
        types[:] = [s[3] for s in sums]
        return {
            "job_id": names,
            "submit_s": submit,
            "gpus": gpus,
            "duration_s": duration,
            "user": rows.text("user"),
            "share_milli": np.maximum(share, 1),
            "gpu_types": types,
            "cpu": np.where(cpu > 0, cpu / 100, np.nan),
            "memory_gb": np.where(memory > 0, memory, np.nan),
        }

    def _job_table(self) -> Path:
        path = user_path(self.path)
        return _in_folder(path, "pai_job_table") if path.is_dir() else require_file(path)

    def _task_table(self) -> Path:
        return _in_folder(self._job_table().parent, "pai_task_table")


def _in_folder(folder: Path, name: str) -> Path:
    for file in (folder / f"{name}.csv", folder / f"{name}.csv.gz", folder / name):
        if file.is_file():
            return file
    raise BloxError(f"the folder holds no {name}.csv", where=str(folder), fix="unpack the table there")


def _header_file(table: Path) -> Path | None:
    file = table.parent / f"{table.name.split('.')[0]}.header"
    return file if file.is_file() else None


def _table(file: Path, known: tuple[str, ...]) -> SourceRows:
    """A table whose columns its .header file names, or its own first line, or else the known ones."""
    header, text = _header_file(file), read_text(file)
    if header is not None:
        names = tuple(n.strip() for n in read_text(header).strip().split(","))
        missing = [n for n in known if n not in names]
        if missing:
            raise BloxError(
                f"the column {missing[0]!r} is missing",
                where=f"{header}:1",
                fix=f"columns present: {', '.join(names)}",
            )
        return read_delimited(str(file), required=known, header=names, text=text)
    own = text.startswith(known[0] + ",")
    return read_delimited(str(file), required=known, header=None if own else known, text=text)


def _task_sums(tasks: SourceRows) -> dict[str, tuple[float, float, float, str]]:
    """Per job: GPU and CPU in hundredths, memory in GB, and the GPU types of its tasks joined with |."""
    instances = tasks.number("inst_num", default=1.0, least=0)
    plans = [tasks.number(name, default=0.0, least=0) for name in ("plan_gpu", "plan_cpu", "plan_mem")]
    gpu, cpu, memory = (instances * plan for plan in plans)
    if tasks.problems:
        raise sorted(tasks.problems)[0].error(tasks.source, more=len(tasks.problems) - 1)
    sums: dict[str, tuple[float, float, float, str]] = {}
    rows = zip(tasks.text("job_name"), gpu.tolist(), cpu.tolist(), memory.tolist(), tasks.text("gpu_type"))
    for job, g, c, m, kind in rows:
        before = sums.get(job, (0.0, 0.0, 0.0, ""))
        known = before[3].split("|") if before[3] else []
        kinds = known if not g or kind in ("", "MISC", "CPU", *known) else [*known, kind]
        sums[job] = (before[0] + g, before[1] + c, before[2] + m, "|".join(kinds))
    return sums
