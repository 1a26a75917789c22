"""Whether jobs ask for batch sizes that their applications can be trained with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from blox.errors import BloxError
from blox.profiles.elastic import ElasticProfile
from blox.workloads.table import JobTable


class BatchFault(NamedTuple):
    """A job, by its row, that asks for a batch size which its application does not allow."""

    row: int
    what: str
    fix: str


def check_batch_sizes(jobs: JobTable, known: Mapping[str, ElasticProfile]) -> None:
    """Raises BloxError for the first job with a batch size, or limits of it, that is not allowed."""
    fault = next(batch_faults(jobs, known), None)
    if fault is not None:
        raise BloxError(fault.what, where=jobs.place(fault.row), fix=fault.fix)


def batch_faults(jobs: JobTable, known: Mapping[str, ElasticProfile]) -> Iterator[BatchFault]:
    """Every job whose batch size, or limits of it, its application does not allow, by row.

    Speeds are ratios to that at the batch size asked for: at one that the application was never trained
    with, every other would look absurdly fast or slow. A batch size of 0, and a job of no application in
    `known`, will do.
    """
    models = jobs.column("model")
    asked = jobs.column("batch_size")
    least, most = jobs.column("min_batch_size"), jobs.column("max_batch_size")
    for row in np.flatnonzero((asked > 0) | (least > 0) | (most > 0)).tolist():
        profile = known.get(str(models[row]))
        if profile is None:
            continue
        low, high = profile.batch_range(int(least[row]), int(most[row]))
        allowed = f"{profile.name} trains with {profile.initial_batch} to {profile.largest_batch}"
        if low > high:
            own = "min_batch_size" if least[row] > profile.largest_batch else "max_batch_size"
            yield BatchFault(
                row,
                f"{jobs.job_named(row)}: {own} is {int(jobs.column(own)[row])}, and {allowed}",
                f"let min_batch_size and max_batch_size leave some of {profile.initial_batch} to "
                f"{profile.largest_batch}, or leave them out",
            )
        elif asked[row] and not low <= asked[row] <= high:
            yield BatchFault(
                row,
                f"{jobs.job_named(row)}: batch_size is {int(asked[row])}, and {allowed}",
                f"give a batch_size from {low} to {high}, or 0 for the best on its GPUs",
            )
