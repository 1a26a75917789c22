"""Whether the jobs of an experiment go with its other parts: told before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blox.beliefs import belief_from_spec, draws_nothing
from blox.errors import BloxError, suggestion
from blox.protocols import declared
from blox.registry import parameters
from blox.workloads.drawn import at_least_one_job
from blox.workloads.extent import stated_jobs
from blox.workloads.fits import RESIZE, check_fits
from blox.workloads.table import JobTable

if TYPE_CHECKING:
    from blox.experiment.prepared import Prepared


def check_workload(prepared: Prepared) -> None:
    """Refuses jobs that cannot run here, and a window that the workload does not reach."""
    table: JobTable | None = declared(prepared.workload, "table")
    if table is None:
        _check_generator(prepared)
    else:
        _check_trace(prepared, table)
    _check_window(prepared)


def _check_trace(prepared: Prepared, table: JobTable) -> None:
    parts, used = prepared.composition, at_least_one_job(table).take(slice(0, prepared.most_jobs))
    _check_columns(prepared, table)
    if draws_nothing(prepared.experiment.belief):
        belief_from_spec(prepared.experiment.belief, 0)(used)
    if not parts.options.oversized_wait:
        check_fits(used, prepared.cluster.total_gpus, prepared.resizes)
    if check_jobs := declared(parts.performance, "check_jobs"):
        check_jobs(table)


def _check_generator(prepared: Prepared) -> None:
    """Refuses a generator whose largest job the cluster cannot hold."""
    workload, gpus = prepared.workload, prepared.cluster.total_gpus
    asked: int | None = declared(workload, "largest_gpus")
    needed: int | None = declared(workload, "needed_gpus")
    largest = (needed or asked) if prepared.resizes else asked
    if largest is None or largest <= gpus:
        return
    resizable = not prepared.resizes and needed is not None and needed <= gpus
    limits = "max_gpus" in parameters(type(workload))
    smaller = f"add max_gpus={gpus} to the workload" if limits else "let the workload give smaller jobs"
    raise BloxError(
        f"jobs ask for up to {largest} GPUs, and the cluster has {gpus}",
        where=f"workload {prepared.experiment.workload!r}",
        fix=f"use a larger cluster, {RESIZE if resizable else ''}or {smaller}",
    )


def _check_window(prepared: Prepared) -> None:
    known = [jobs for jobs in (stated_jobs(prepared.workload), prepared.most_jobs) if jobs is not None]
    if prepared.window is not None and known and prepared.window[1] >= min(known):
        raise BloxError(
            f"the window ends with job {prepared.window[1]}, "
            f"and the workload has {min(known)}: 0 to {min(known) - 1}",
            where=f"window {prepared.experiment.window!r}",
            fix="use an earlier window or a longer workload",
        )


def _check_columns(prepared: Prepared, table: JobTable) -> None:
    """Refuses a trace without the columns of its own that a policy reads."""
    parts = prepared.composition
    for part in (parts.admission, parts.scheduler, parts.placement, parts.termination):
        for name in declared(part, "needs_columns"):
            if name not in table.extra and name not in table.columns:
                raise BloxError(
                    f"the jobs have no column {name!r}, which a policy needs",
                    where=table.source,
                    fix="?extra=keep behind the path keeps the columns of its file; "
                    f"{suggestion(name, (*table.columns, *table.extra))}",
                )
