"""The accounting log of PBS Professional, OpenPBS or Torque: a record per event, of which exits are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.errors import BloxError
from blox.registry import register
from blox.workloads.extra import texts
from blox.workloads.log_fields import attempts, logged_times, map_cells, times_of_runs
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.slurm_fields import duration_s
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array
from blox.workloads.text_files import read_text

_EXIT = "E"
_KINDS = frozenset("ABCDEFGHIJKLMNOPQRSTUYZ")  # markers of records, in any version
_KEYS = {
    "user": "user", "group": "group", "account": "account", "project": "project", "queue": "queue",
    "qtime": "qtime", "etime": "etime", "start": "start", "end": "end",
    "Resource_List.ngpus": "ngpus", "Resource_List.select": "select", "Resource_List.nodes": "nodes",
    "Resource_List.ncpus": "ncpus", "Resource_List.walltime": "walltime",
}  # fmt: skip
_COUNTED = re.compile(r"(?:^|:)n?gpus=([0-9]{1,6})(?=:|$)")


@register.reader("pbs")
@dataclass(frozen=True)
class Pbs(TraceReader):
    """Reads server_priv/accounting files, one or several put together: every exit record (E) is a job.

    GPUs are those of Resource_List.ngpus, or else of the chunks of select, or of nodes (Torque).
    """

    required: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[Names] = {
        "submit_s": "qtime",
        "logged_start_s": "start",
        "gpus": "the number of GPUs",
        "duration_s": "end - start",
        "limit_s": "Resource_List.walltime",
    }
    relative: ClassVar[bool] = False
    default_performance: ClassVar[str] = "duration"
    assumptions: ClassVar[tuple[str, ...]] = (
        "failed and deleted jobs are kept if they ran: they held GPUs",
        "no models are named; the walltime asked for is the time limit (--belief limit)",
    )

    def rows(self) -> SourceRows:
        columns: dict[str, list[str]] = {"id": [], **{name: [] for name in _KEYS.values()}}
        lines, records = list[int](), 0
        for number, line in enumerate(read_text(self.path).splitlines(), 1):
            if not line.strip():
                continue
            record = line.split(";", 3)
            if len(record) < 3 or record[1] not in _KINDS:
                raise BloxError(
                    "is not a record of PBS accounting",
                    where=f"{self.path}:{number}",
                    fix="records look like 04/18/2026 14:04:25;E;81.server;user=ann queue=gpu start=...",
                )
            records += 1
            if record[1] != _EXIT:
                continue
            given = dict(word.partition("=")[::2] for word in record[3].split()) if len(record) > 3 else {}
            columns["id"].append(record[2].strip())
            for key, name in _KEYS.items():
                columns[name].append(given.get(key, ""))
            lines.append(number)
        rows = SourceRows(self.path, columns, lines)
        if records > len(rows):
            rows.notes.append(f"passed over {records - len(rows):,} records of other events than exits")
        return rows

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        start = logged_times(rows, "start")
        since = np.fmax(logged_times(rows, "qtime"), logged_times(rows, "etime"))
        if (unknown := rows.kept & np.isnan(since)).any():
            rows.fault(unknown, lambda row: "neither qtime nor etime is told", "give a record that has one")
            rows.kept &= ~unknown
        times = times_of_runs(rows, since, start, logged_times(rows, "end"))
        gpus = self._gpus(rows)
        rows.leave_out(gpus == 0, "it held no GPU")
        ids = rows.text("id")
        limit = map_cells(rows, "walltime", duration_s, "write it as 24:00:00")
        account, project, group = (rows.columns[name] for name in ("account", "project", "group"))
        tenants = [
            a or (p if not p.startswith("_pbs_") else "") or g for a, p, g in zip(account, project, group)
        ]
        return {
            "job_id": attempts(rows, ids, start),
            **times,
            "gpus": gpus,
            "limit_s": np.where(limit > 0, limit, np.nan),
            "cpu": map_cells(rows, "ncpus", _count_or_none, "write a whole number"),
            "user": rows.text("user"),
            "tenant": texts([tenant.strip('"') for tenant in tenants]),
            "group": texts([f"{job.partition('[')[0]}[]" if "[" in job else "" for job in ids.tolist()]),
        }

    def own_columns(self, rows: SourceRows) -> dict[str, Array]:
        return {"queue": rows.text("queue")}

    def _gpus(self, rows: SourceRows) -> Array:
        """GPUs of every job: the total, or else chunk by chunk."""
        total = map_cells(rows, "ngpus", _count_or_none, "write a whole number")
        fix = "write chunks as 2:ncpus=8:ngpus=4, joined with +"
        select, nodes = (map_cells(rows, name, _in_chunks, fix) for name in ("select", "nodes"))
        return np.where(np.isnan(total), np.where(select > 0, select, nodes), total)


def _count_or_none(cell: str) -> float:
    return float(int(cell)) if cell else np.nan


def _in_chunks(cell: str) -> float:
    """`2:ncpus=8:ngpus=4+1:ncpus=8` has 8 GPUs; nodes may be names: `gpu01:gpus=4`."""
    total = 0.0
    for chunk in filter(None, cell.split("+")):
        count = chunk.partition(":")[0]
        match = _COUNTED.search(chunk)
        if match is not None:
            total += int(match[1]) * (int(count) if count.isascii() and count.isdigit() else 1)
    return total
