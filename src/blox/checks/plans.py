"""Whether the parts of a Plan that a policy returns fit together, and fit what runs now."""

from __future__ import annotations

import numpy as np

from blox.checks.broken import Broken
from blox.checks.values import first, whole_numbers
from blox.state.jobs import JobState
from blox.state.misfit import job_named
from blox.state.plan import Allocation, Plan

_SUSPEND = "suspend rows of cluster_state.allocation.jobs only"


def check_parts(plan: Plan, now: Allocation, job_state: JobState) -> None:
    """Refuses a plan that suspends a job which does not run, or which the plan gives GPUs as well."""
    suspended = whole_numbers(plan.suspend, "the Plan's rows to suspend", _SUSPEND)
    unknown = first(suspended, (suspended < 0) | (suspended >= job_state.submitted))
    if unknown is not None:
        raise Broken(f"the Plan suspends row {unknown}, which no job has", fix=_SUSPEND, rule="rows")
    for verb, part in (("launches", plan.launch), ("moves", plan.move), ("adjusts", plan.adjust)):
        twice = first(suspended, np.isin(suspended, part.jobs))
        if twice is not None:
            raise Broken(
                f"the Plan both suspends and {verb} {job_named(twice, job_state)}",
                fix="put a running job that gets other GPUs into move alone; or return an Allocation",
                rule="rows",
            )
    waiting = first(suspended, ~np.isin(suspended, now.jobs))
    if waiting is not None:
        raise Broken(
            f"the Plan suspends {job_named(waiting, job_state)}, which does not run",
            fix=_SUSPEND,
            rule="rows",
        )
