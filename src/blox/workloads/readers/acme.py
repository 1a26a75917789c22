"""Shanghai AI Lab's Acme traces (2023): `trace_seren.csv` and `trace_kalos.csv`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array


@register.reader("acme")
@dataclass(frozen=True)
class Acme(TraceReader):
    """Reads a job trace of Seren or Kalos; `type` becomes the job's type: pretraining, evaluation, ..."""

    required: ClassVar[tuple[str, ...]] = ("job_id", "gpu_num", "submit_time", "start_time", "end_time")
    optional: ClassVar[tuple[str, ...]] = ("user", "type", "cpu_num", "node_num", "mem_per_pod_GB")
    names: ClassVar[Names] = {"submit_s": "submit_time", "gpus": "gpu_num", "cpu": "cpu_num"}
    relative: ClassVar[bool] = False
    assumptions: ClassVar[tuple[str, ...]] = (
        "a job's duration is end_time - start_time: the column duration may count the queue in",
        "failed and cancelled jobs are kept: their end is a real end",
    )

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        gpus = rows.whole("gpu_num")
        rows.leave_out(gpus == 0, "gpu_num is 0, a CPU job")
        rows.leave_out(rows.empty("start_time"), "no start_time, it never ran")
        rows.leave_out(rows.empty("end_time"), "no end_time, it was still running")
        duration = rows.time("end_time") - rows.time("start_time")
        rows.leave_out(duration <= 0, "it ended when it started, or before")
        found = {
            "job_id": rows.text("job_id"),
            "submit_s": rows.time("submit_time"),
            "gpus": gpus,
            "duration_s": duration,
        }
        for ours, theirs in (("user", "user"), ("job_type", "type")):
            if rows.has(theirs):
                found[ours] = rows.text(theirs)
        if rows.has("cpu_num"):
            found["cpu"] = rows.number("cpu_num", default=np.nan)
        if rows.has("mem_per_pod_GB") and rows.has("node_num"):
            nodes = np.maximum(rows.number("node_num", default=1.0, least=0), 1.0)
            found["memory_gb"] = rows.number("mem_per_pod_GB", default=np.nan, least=0) * nodes
            rows.notes.append("memory_gb is mem_per_pod_GB times node_num: one pod per node")
        return found
