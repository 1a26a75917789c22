"""The job traces of the Tiresias simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array


@register.reader("tiresias")
@dataclass(frozen=True)
class Tiresias(TraceReader):
    """Reads job_id, num_gpu, submit_time, duration, and where present iterations and model_name."""

    required: ClassVar[tuple[str, ...]] = ("job_id", "num_gpu", "submit_time", "duration")
    optional: ClassVar[tuple[str, ...]] = ("iterations", "model_name")
    names: ClassVar[Names] = {"submit_s": "submit_time", "gpus": "num_gpu", "duration_s": "duration"}
    assumptions: ClassVar[tuple[str, ...]] = (
        "duration is the work; iterations are kept but, as in the original, decide nothing",
    )

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        found = {
            "job_id": rows.text("job_id"),
            "submit_s": rows.number("submit_time"),
            "gpus": rows.whole("num_gpu"),
            "duration_s": rows.number("duration"),
        }
        if rows.has("iterations"):
            iterations = rows.number("iterations", default=np.nan)
            found["iterations"] = np.where(iterations == 0, np.nan, iterations)
            found["iteration_s"] = found["duration_s"] / found["iterations"]
        if rows.has("model_name"):
            found["model"] = rows.text("model_name")
        return found
