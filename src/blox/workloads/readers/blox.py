"""The job lists of the original Blox simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array


@register.reader("blox")
@dataclass(frozen=True)
class Blox(TraceReader):
    """Reads job_id, arrival_s, num_gpus, total_iterations, iteration_time_s, duration_s, model.

    All figures keep their full precision; ids are whole numbers. `class_id` is passed over: the original
    uses it for nothing.
    """

    required: ClassVar[tuple[str, ...]] = (
        "job_id",
        "arrival_s",
        "num_gpus",
        "total_iterations",
        "iteration_time_s",
        "duration_s",
    )
    optional: ClassVar[tuple[str, ...]] = ("model",)
    names: ClassVar[Names] = {
        "submit_s": "arrival_s",
        "gpus": "num_gpus",
        "iterations": "total_iterations",
        "iteration_s": "iteration_time_s",
    }

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        ids = rows.whole("job_id")
        found = {
            # a faulty id is reported already; a number of its own keeps it from being called a double
            "job_id": np.where(np.isfinite(ids), ids, -1.0 - np.arange(len(rows))).astype(np.int64),
            "submit_s": rows.number("arrival_s"),
            "gpus": rows.whole("num_gpus"),
            "duration_s": rows.number("duration_s"),
            "iterations": rows.number("total_iterations"),
            "iteration_s": rows.number("iteration_time_s"),
        }
        if rows.has("model"):
            found["model"] = rows.text("model")
        work = found["iterations"] * found["iteration_s"]
        apart = rows.kept & ~np.isclose(work, found["duration_s"], rtol=1e-9, atol=0.0, equal_nan=True)
        if apart.any():
            rows.notes.append(
                f"{np.count_nonzero(apart):,} jobs whose total_iterations x iteration_time_s "
                "is not their duration_s: all three are kept, duration_s is the work"
            )
        return found
