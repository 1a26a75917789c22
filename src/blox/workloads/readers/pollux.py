"""The workloads of the Pollux artifact: jobs by application, GPUs and batch size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.pollux_profiles import (
    GPUS_PER_NODE,
    MOST_GPUS,
    ON_ONE_GPU,
    Application,
    applications_beside,
    applications_in,
)
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array
from blox.workloads.text_files import require_file, user_path


@register.reader("pollux")
@dataclass(frozen=True)
class Pollux(TraceReader):
    """Reads name, time, application, num_replicas and batch_size; jobs are elastic.

    Durations and limits of GPUs and batch sizes come from the applications' profiles; `applications` is
    their folder (default: `../applications`, seen from the file).
    """

    applications: str = ""

    required: ClassVar[tuple[str, ...]] = ("name", "time", "application", "num_replicas", "batch_size")
    names: ClassVar[Names] = {"job_id": "name", "submit_s": "time", "gpus": "num_replicas"}
    assumptions: ClassVar[tuple[str, ...]] = (
        "duration_s is what the applications' profiles give for num_replicas GPUs, packed "
        f"{GPUS_PER_NODE} to a node, at the given batch size from first to last epoch, without start-up "
        "time; a number of GPUs that was not measured is interpolated",
        "iteration_s is one step at that batch size; iterations are duration_s / iteration_s",
        "jobs are elastic: min_gpus is 1; max_gpus is the largest validated batch over the smallest of one "
        f"GPU, {MOST_GPUS} at most ({', '.join(ON_ONE_GPU)}: 1, as in the artifact), or else num_replicas; "
        "batch sizes go from the smallest to the largest validated",
    )

    def files(self) -> list[Path]:
        return [require_file(self.path), *sorted(self._folder().glob("*/*.csv"))]

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        gpus, batch = rows.whole("num_replicas"), rows.whole("batch_size")
        kinds = rows.text("application")
        wrong = rows.kept & ~(batch >= 1) & np.isfinite(batch)
        rows.fault(wrong, lambda row: f"batch_size is {batch[row]:g}", "batch_size must be 1 or more")
        there = applications_in(self._folder())
        rows.fault(
            rows.kept & ~np.isin(kinds.astype(str), there),
            lambda row: f"no application is called {kinds[row]!r}",
            f"applications in {self._folder()}: {', '.join(there)}",
        )
        profiles = {kind: Application(self._folder() / kind) for kind in sorted(set(kinds) & set(there))}
        limits = {kind: (*profile.batch_range, profile.most_gpus) for kind, profile in profiles.items()}
        smallest, largest, most = np.array([limits.get(kind, (0, 0, 0)) for kind in kinds]).reshape(-1, 3).T
        beyond = rows.kept & (largest > 0) & (batch >= 1) & ~((batch >= smallest) & (batch <= largest))
        rows.fault(
            beyond,
            lambda row: (
                f"batch_size is {batch[row]:g}, and {kinds[row]} was validated with {smallest[row]} "
                f"to {largest[row]}"
            ),
            "give a batch size in these limits, which are those of the files validation-<batch size>.csv in "
            f"{self._folder()}",
        )
        batch = np.where(beyond, np.nan, batch)  # said once
        duration, iteration = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        for row in np.flatnonzero(rows.kept & (gpus >= 1) & (batch >= 1)).tolist():
            if kinds[row] in profiles:
                run = profiles[kinds[row]].isolated(int(gpus[row]), int(batch[row]))
                duration[row], iteration[row] = run.duration_s, run.iteration_s
        # where GPUs or batch size are at fault there is no duration either; that is not a second fault
        rows.faulty |= np.isnan(duration) & ~(gpus >= 1)
        return {
            "job_id": rows.text("name"),
            "submit_s": rows.number("time"),
            "gpus": gpus,
            "duration_s": duration,
            "model": kinds,
            "batch_size": batch,
            "min_gpus": np.where(gpus >= 1, 1.0, np.nan),
            "max_gpus": np.where(gpus >= 1, np.maximum(most, gpus), np.nan),
            "min_batch_size": smallest,
            "max_batch_size": largest,
            "iterations": duration / iteration,
            "iteration_s": iteration,
        }

    def _folder(self) -> Path:
        if self.applications:
            return user_path(self.applications)
        return applications_beside(user_path(self.path))
