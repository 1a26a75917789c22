"""Drawing jobs of a workload. Those of a user's file are held to the rules of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blox.errors import BloxError
from blox.foreign import is_foreign, watched_part
from blox.workloads.table import JobTable, Workload


def drawn(workload: Workload, rng: Any) -> Iterator[JobTable]:
    """The tables of a workload. Raises BloxError where one from outside breaks a rule."""
    batches = watched_part(workload).batches(rng)
    return _held_to_rules(batches, f"workload {type(workload).__name__}") if is_foreign(workload) else batches


def at_least_one_job(table: JobTable) -> JobTable:
    """The table of all jobs of a trace. Raises BloxError where there are none."""
    if not len(table):
        raise BloxError("the trace has no jobs", where=table.source, fix="give a trace with at least one job")
    return table


def _held_to_rules(batches: Iterator[JobTable], where: str) -> Iterator[JobTable]:
    last_s, known = 0.0, set[Any]()
    for jobs in batches:
        if not isinstance(jobs, JobTable):
            raise BloxError(
                f"batches() yields a {type(jobs).__name__}",
                where=where,
                fix="yield JobTable.build({...}, source)",
            )
        jobs.validate()
        ids, submit = jobs.columns["job_id"].tolist(), jobs.columns["submit_s"].tolist()
        if submit != sorted(submit) or (submit and submit[0] < last_s):
            raise BloxError(
                f"jobs are not in order of submission near {last_s:g} s",
                where=where,
                fix="sort jobs by submit_s, within a table and from one to the next",
            )
        if twice := known.intersection(ids):
            raise BloxError(
                f"the job_id {str(min(twice))!r} is used twice", where=where, fix="give every job its own id"
            )
        known.update(ids)
        last_s = submit[-1] if submit else last_s
        yield jobs
    if not known:
        raise BloxError("the workload has no jobs", where=where, fix="let batches() yield at least one job")
