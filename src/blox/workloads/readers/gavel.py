"""The traces of Gavel's simulator: tab separated, no header, work in steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from blox.errors import BloxError, suggestion
from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows, read_delimited
from blox.workloads.table import Array
from blox.workloads.text_files import read_json, read_text, require_file

COLUMNS = (
    "job_type",
    "command",
    "working_directory",
    "num_steps_arg",
    "needs_data_dir",
    "total_steps",
    "scale_factor",
    "priority_weight",
    "SLO",
    "arrival_time",
)
_BATCH = re.compile(r"\(batch size ([0-9]{1,15})\)")


@register.reader("gavel")
@dataclass(frozen=True)
class Gavel(TraceReader):
    """Reads a trace of ten columns; `throughputs` is Gavel's JSON table of steps per second.

    The duration is total_steps over the job type's throughput, alone, at its scale factor, on `reference`
    GPUs.
    """

    throughputs: str = ""
    reference: str = "v100"

    required: ClassVar[tuple[str, ...]] = COLUMNS
    names: ClassVar[Names] = {
        "submit_s": "arrival_time",
        "gpus": "scale_factor",
        "iterations": "total_steps",
        "duration_s": "total_steps / throughput",
    }

    def rows(self) -> SourceRows:
        text = read_text(self.path)
        first = next((line for line in text.splitlines() if line.strip()), "")
        if first.count("\t") == 6:
            raise BloxError(
                "has 7 columns: Gavel's older format, which Gavel itself no longer reads",
                where=f"{self.path}:1",
                fix=f"give the 10 columns {', '.join(COLUMNS)}",
            )
        return read_delimited(self.path, required=COLUMNS, delimiter="\t", header=COLUMNS, text=text)

    def files(self) -> list[Path]:
        tables = [require_file(self.throughputs)] if self.throughputs else []
        return [require_file(self.path), *tables]

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        steps, gpus = rows.number("total_steps"), rows.whole("scale_factor")
        kinds, submit = rows.text("job_type"), rows.number("arrival_time")
        rate = self._rates(rows, kinds, gpus)
        duration = steps / rate
        weight, slo = rows.number("priority_weight"), rows.number("SLO")
        batch = [_BATCH.search(kind) for kind in kinds]
        found = {
            "job_id": np.arange(len(rows)),
            "submit_s": submit,
            "gpus": gpus,
            "duration_s": duration,
            "model": kinds,
            "priority": np.round(np.nan_to_num(weight, nan=1.0)),
            "batch_size": np.array([int(b.group(1)) if b else 0 for b in batch], dtype=np.int64),
            "iterations": steps,
            "iteration_s": 1 / rate,
        }
        rows.notes.append("jobs are numbered from 0 in the order of the file, as Gavel does")
        rows.notes.append(
            f"duration_s is total_steps at the isolated throughput on {self.reference}, GPUs of one server "
            f"({self.throughputs}); other GPU types need a performance model"
        )
        rows.notes.append("model is the whole job type, batch size included: the throughput table goes by it")
        if (rows.kept & (slo > 0)).any():
            found["deadline_s"] = np.where(slo > 0, submit + slo * duration, np.nan)
            rows.notes.append(
                "an SLO is a multiple of the duration: deadline_s = arrival_time + SLO x duration_s"
            )
        if (rows.kept & (weight != np.round(weight))).any():
            rows.notes.append("priority weights are rounded to whole numbers")
        return found

    def _rates(self, rows: SourceRows, kinds: Array, gpus: Array) -> Array:
        """Steps per second of each job; a job type that the table lacks is a fault of its line."""
        table = self._table()
        known = sorted({key.rpartition(",")[0].strip("('\"") for key in table})
        rate = np.full(len(rows), np.nan)
        unknown, still = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
        for row in np.flatnonzero(rows.kept & np.isfinite(gpus)).tolist():
            entry = table.get(f"('{kinds[row]}', {int(gpus[row])})")
            value: Any = entry.get("null") if isinstance(entry, dict) else None
            unknown[row] = not isinstance(value, int | float)
            still[row] = not unknown[row] and value <= 0
            if not unknown[row] and not still[row]:
                rate[row] = value
        rows.fault(
            unknown,
            lambda row: f"no throughput of {kinds[row]!r} on {int(gpus[row])} {self.reference} GPUs",
            f"job types in {self.throughputs}: {', '.join(known)}",
        )
        rows.fault(
            still,
            lambda row: f"the throughput of {kinds[row]!r} on {int(gpus[row])} {self.reference} GPUs is 0",
            "give another reference GPU type",
        )
        return rate

    def _table(self) -> dict[str, Any]:
        if not self.throughputs:
            raise BloxError(
                "a Gavel trace counts steps; a throughput table is needed to know how long they take",
                where=self.path,
                fix=f"gavel:{self.path}?throughputs=simulation_throughputs.json (and &reference=v100)",
            )
        tables = read_json(self.throughputs, fix="give Gavel's own table")
        if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
            raise BloxError(
                "is not a throughput table",
                where=self.throughputs,
                fix="give GPU type -> job type -> steps/s",
            )
        if self.reference not in tables:
            raise BloxError(
                f"no GPU type is called {self.reference!r}",
                where=self.throughputs,
                fix=f"reference: {suggestion(self.reference, tables)}",
            )
        table: dict[str, Any] = tables[self.reference]
        return table
