"""How many jobs a workload has: those of a trace, as many as it says or gives, or no end of them."""

from __future__ import annotations

from blox.errors import BloxError
from blox.optional import declared
from blox.workloads.drawn import drawn
from blox.workloads.spec import workload_rng
from blox.workloads.table import JobTable, Workload

MOST_COUNTED = 100_000  # jobs of a generator that does not say whether it ends


def stated_jobs(workload: Workload) -> int | None:
    """The jobs of a trace, or as many as a generator says it has; None where neither is known."""
    table: JobTable | None = declared(workload, "table")
    jobs: int | None = declared(workload, "jobs") if table is None else len(table)
    return jobs


def is_endless(workload: Workload, seed: int, *, where: str) -> bool:
    """Whether a limit is needed. A generator with neither `jobs` nor `endless` is drawn to its end, to see.

    One that has not ended after MOST_COUNTED jobs is refused: taken as finite it might run for ever, taken as
    endless jobs would be lost.
    """
    if stated_jobs(workload) is not None:
        return False
    said = declared(workload, "endless")
    if said is not None:
        return bool(said)
    count = 0
    for batch in drawn(workload, workload_rng(seed)):
        count += len(batch)
        if count > MOST_COUNTED:
            name = type(workload).__name__
            raise BloxError(
                f"{name} has not ended after {MOST_COUNTED:,} jobs, and does not say whether it ever ends",
                where=where,
                fix=f"give --jobs N, or write endless = True or endless = False into the class {name}",
            )
    return False
