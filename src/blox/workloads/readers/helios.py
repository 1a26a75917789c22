"""SenseTime's Helios traces (2020): `cluster_log.csv` of one of the four clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader, only_tenant
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array


@register.reader("helios")
@dataclass(frozen=True)
class Helios(TraceReader):
    """Reads a `cluster_log.csv`; `tenant` keeps one virtual cluster (vc)."""

    tenant: str = ""

    required: ClassVar[tuple[str, ...]] = ("job_id", "gpu_num", "submit_time", "duration")
    optional: ClassVar[tuple[str, ...]] = ("user", "vc", "cpu_num")
    names: ClassVar[Names] = {
        "submit_s": "submit_time",
        "gpus": "gpu_num",
        "duration_s": "duration",
        "cpu": "cpu_num",
    }
    relative: ClassVar[bool] = False
    assumptions: ClassVar[tuple[str, ...]] = (
        "no models are named; failed and cancelled jobs are kept, for they really ran",
    )

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        if self.tenant:
            only_tenant(rows, "vc", self.tenant)
        gpus = rows.whole("gpu_num")
        rows.leave_out(gpus == 0, "gpu_num is 0, a CPU job")
        rows.leave_out(rows.empty("duration"), "no duration, it never ran")
        duration = rows.number("duration")
        rows.leave_out(duration == 0, "duration is 0, it never ran")
        found = {
            "job_id": rows.text("job_id"),
            "submit_s": rows.time("submit_time"),
            "gpus": gpus,
            "duration_s": duration,
        }
        for ours, theirs in (("user", "user"), ("tenant", "vc")):
            if rows.has(theirs):
                found[ours] = rows.text(theirs)
        if rows.has("cpu_num"):
            found["cpu"] = rows.number("cpu_num", default=np.nan)
        return found
