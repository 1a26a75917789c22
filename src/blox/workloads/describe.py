"""Statistics of a workload, as plain values: what there is to know before simulating it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from blox.workloads.table import JobTable

PERCENTILES = (5, 25, 50, 75, 95, 99)


@dataclass(frozen=True)
class Description:
    """Figures of a table of jobs; times in seconds. Shares are of jobs, 0 to 1, most frequent value first."""

    jobs: int
    span_s: float
    jobs_per_hour: float
    gpu_hours: float
    mean_duration_s: float
    duration_percentiles_s: dict[int, float]
    gpu_counts: dict[int, int]
    gpu_hours_by_count: dict[int, float]
    names: dict[str, dict[str, int]]  # users, tenants, models, ... -> jobs of each
    resizable: int  # jobs that can use more than one number of GPUs
    gpus_range: tuple[int, int]  # fewest and most GPUs that any of these can use
    batch_range: tuple[int, int]  # smallest and largest batch size that any of them allows; 0: none says
    demanded_gpus: float  # GPUs kept busy on average if every job ran at once when submitted
    demanded_until: Literal["last submission", "last end"]  # from the first submission on


def describe(table: JobTable) -> Description:
    """The figures of a table that holds at least one job.

    The span is from the first submission to the last; `demanded_gpus` is GPU time over that span, so the
    offered load of a cluster is `demanded_gpus / GPUs`. Where an average job is longer than the span, it is
    GPU time over the time until the last job would end.
    """
    submit, duration, gpus = table.column("submit_s"), table.column("duration_s"), table.column("gpus")
    span = float(submit[-1] - submit[0])
    gpu_seconds = duration * gpus
    short = span < duration.mean()
    demanded_s = float((submit + duration).max() - submit[0]) if short else span
    elastic = table.resizable
    least, most = table.least_gpus[elastic], np.maximum(table.column("max_gpus"), gpus)[elastic]
    smallest, largest = (table.column(name)[elastic] for name in ("min_batch_size", "max_batch_size"))
    counts, which = np.unique(gpus, return_inverse=True)
    totals = np.bincount(which, weights=gpu_seconds) / 3600
    return Description(
        jobs=len(table),
        span_s=span,
        jobs_per_hour=(len(table) - 1) / span * 3600 if span > 0 else float("inf"),
        gpu_hours=float(gpu_seconds.sum() / 3600),
        mean_duration_s=float(duration.mean()),
        duration_percentiles_s={
            p: float(v) for p, v in zip(PERCENTILES, np.percentile(duration, PERCENTILES))
        },
        gpu_counts={int(c): int(n) for c, n in zip(counts, np.bincount(which))},
        gpu_hours_by_count={int(c): float(t) for c, t in zip(counts, totals)},
        names={
            label: found
            for label, column in (
                ("users", "user"),
                ("tenants", "tenant"),
                ("groups", "group"),
                ("models", "model"),
                ("job types", "job_type"),
                ("GPU types", "gpu_types"),
            )
            if (found := _tally(table, column))
        },
        resizable=int(elastic.sum()),
        gpus_range=(int(min(least, default=0)), int(max(most, default=0))),
        batch_range=(int(min(smallest, default=0)), int(max(largest, default=0))),
        demanded_gpus=float(gpu_seconds.sum()) / demanded_s,
        demanded_until="last end" if short else "last submission",
    )


def _tally(table: JobTable, column: str) -> dict[str, int]:
    if column not in table.columns:
        return {}
    values, counts = np.unique(table.columns[column].astype(str), return_counts=True)
    found = [(-int(n), str(v)) for v, n in zip(values, counts) if v]
    return {value: -count for count, value in sorted(found)}
