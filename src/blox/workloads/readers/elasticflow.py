"""The traces of Microsoft's ITP clusters (2021) that ElasticFlow published, raw and augmented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array


@register.reader("elasticflow")
@dataclass(frozen=True)
class ElasticFlow(TraceReader):
    """Reads job_id, submission_time, duration and num_gpu.

    The augmented form adds num_iteration, model_name, deadline and batch_size.
    """

    required: ClassVar[tuple[str, ...]] = ("job_id", "submission_time", "duration", "num_gpu")
    optional: ClassVar[tuple[str, ...]] = ("num_iteration", "model_name", "deadline", "batch_size")
    names: ClassVar[Names] = {
        "submit_s": "submission_time",
        "gpus": "num_gpu",
        "duration_s": "duration",
        "iterations": "num_iteration",
        "deadline_s": "deadline",
    }

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        found = {
            "job_id": rows.text("job_id"),
            "submit_s": rows.number("submission_time"),
            "gpus": rows.whole("num_gpu"),
            "duration_s": rows.number("duration"),
        }
        if rows.has("model_name"):
            found["model"] = rows.text("model_name")
        else:
            rows.notes.append("the raw form names no models")
        if rows.has("num_iteration"):
            found["iterations"] = rows.number("num_iteration", default=np.nan)
            found["iteration_s"] = found["duration_s"] / found["iterations"]
        if rows.has("deadline"):
            found["deadline_s"] = rows.number("deadline", default=np.nan)
            rows.notes.append(
                "deadline is taken as seconds from the start of the trace, like submission_time"
            )
        if rows.has("batch_size"):
            found["batch_size"] = rows.whole("batch_size", default=0)
        return found
