"""Alibaba's openb traces (2023): pods with fractions of GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array


@register.reader("openb")
@dataclass(frozen=True)
class OpenB(TraceReader):
    """Reads a list of pods; each pod is a job, its quality of service the job's type."""

    required: ClassVar[tuple[str, ...]] = (
        "name",
        "num_gpu",
        "gpu_milli",
        "creation_time",
        "deletion_time",
        "scheduled_time",
    )
    optional: ClassVar[tuple[str, ...]] = ("cpu_milli", "memory_mib", "gpu_spec", "qos")
    names: ClassVar[Names] = {
        "job_id": "name",
        "submit_s": "creation_time",
        "gpus": "num_gpu",
        "share_milli": "gpu_milli",
        "cpu": "cpu_milli",
        "memory_gb": "memory_mib",
    }
    relative: ClassVar[bool] = False
    assumptions: ClassVar[tuple[str, ...]] = (
        "duration_s is deletion_time - scheduled_time, whatever the pod's phase",
    )

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        gpus = rows.whole("num_gpu")
        rows.leave_out(gpus == 0, "num_gpu is 0, a CPU pod")
        rows.leave_out(rows.empty("scheduled_time"), "no scheduled_time, it never ran")
        rows.leave_out(rows.empty("deletion_time"), "no deletion_time, it was still running")
        duration = rows.number("deletion_time") - rows.number("scheduled_time")
        rows.leave_out(duration <= 0, "it ended when it started, or before")
        share = rows.whole("gpu_milli")
        found = {
            "job_id": rows.text("name"),
            "submit_s": rows.number("creation_time"),
            "gpus": gpus,
            "duration_s": duration,
            "share_milli": share,
        }
        parts = int(np.count_nonzero(rows.kept & (share < 1000)))
        if parts:
            rows.notes.append(
                f"{parts:,} jobs ask for a part of a GPU and are given a whole one; share_milli keeps it"
            )
        for ours, theirs in (("gpu_types", "gpu_spec"), ("job_type", "qos")):
            if rows.has(theirs):
                found[ours] = rows.text(theirs)
        if rows.has("cpu_milli"):
            found["cpu"] = rows.number("cpu_milli", default=np.nan) / 1000
        if rows.has("memory_mib"):
            found["memory_gb"] = rows.number("memory_mib", default=np.nan) / 1024
        return found
