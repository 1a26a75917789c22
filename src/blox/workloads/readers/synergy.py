"""The job lists of the Synergy simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array


@register.reader("synergy")
@dataclass(frozen=True)
class Synergy(TraceReader):
    """Reads job_id, arrival_s, gpus and duration_fair_s; where present task, model, iterations and demand."""

    required: ClassVar[tuple[str, ...]] = ("job_id", "arrival_s", "gpus", "duration_fair_s")
    optional: ClassVar[tuple[str, ...]] = (
        "task",
        "model",
        "total_iterations",
        "iter_time_fair_s",
        "cpu_demand",
        "mem_demand_gb",
    )
    names: ClassVar[Names] = {
        "submit_s": "arrival_s",
        "duration_s": "duration_fair_s",
        "iterations": "total_iterations",
        "iteration_s": "iter_time_fair_s",
        "cpu": "cpu_demand",
        "memory_gb": "mem_demand_gb",
    }
    assumptions: ClassVar[tuple[str, ...]] = (
        "duration_s is the time with the GPU-proportional share of CPU and memory (speed 1)",
        "cpu and memory_gb are the whole job's best-case demand; how much faster it makes "
        "the job is left to a performance model",
    )

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        found = {
            "job_id": rows.text("job_id"),
            "submit_s": rows.number("arrival_s"),
            "gpus": rows.whole("gpus"),
            "duration_s": rows.number("duration_fair_s"),
        }
        for ours, theirs in (("job_type", "task"), ("model", "model")):
            if rows.has(theirs):
                found[ours] = rows.text(theirs)
        for ours in ("iterations", "iteration_s", "cpu", "memory_gb"):
            if rows.has(self.names[ours]):
                found[ours] = rows.number(self.names[ours], default=np.nan)
        return found
