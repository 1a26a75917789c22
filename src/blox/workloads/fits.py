"""Whether a cluster is large enough for the jobs of a table."""

from __future__ import annotations

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import JobTable

RESIZE = "a scheduler that resizes jobs (pollux, optimus, themis), "  # told where it would help


def check_fits(jobs: JobTable, largest: int, resizes: bool = False) -> None:
    """Refuses a job that is not valid, or that asks for more GPUs than the cluster has.

    Where the scheduler resizes jobs, the least number of GPUs that a job can run on counts instead.
    """
    jobs.validate()
    least = jobs.least_gpus
    needed = least if resizes else jobs.columns["gpus"]
    if (needed > largest).any():
        row = int(np.argmax(needed > largest))
        option = "" if jobs.lines is None else f": PATH?max_gpus={largest} in the workload"  # of a reader
        fits = int(least[row]) <= largest
        raise BloxError(
            f"{jobs.job_named(row)} {'needs' if resizes else 'asks for'} "
            f"{int(needed[row])} GPUs, and the cluster has {largest}",
            where=jobs.place(row),
            fix=f"use a larger cluster, {RESIZE if fits else ''}or leave such jobs out{option}",
        )
