"""Under which names a policy may tell figures and columns of its own: not those of what a run measures."""

from __future__ import annotations

from collections.abc import Container, Iterable

from blox.checks.broken import Broken, name_of
from blox.checks.guard import Guard
from blox.state.jobs import JobState
from blox.workloads.extra import COUNTED, TAKEN


def measured_columns(job_state: JobState) -> set[str]:
    """The columns of jobs that no policy may give: of the toolkit, and of the workload's own."""
    return {*TAKEN, *job_state.columns.extra} - {*COUNTED}


def refuse_measured(
    policy: object, verb: str, names: Iterable[str], measured: Container[str], job_state: JobState
) -> None:
    """Raises Broken for the first name that `verb` of a policy returns and that is among those `measured`."""
    for name in names:
        if name not in measured:
            continue
        kind = "figure of the summary" if verb == "figures" else "column of jobs"
        fault = Broken(
            f"{verb}() returns {name!r}, which is a {kind} already: it would replace what was measured",
            fix=f"rename it: my_{name}",
            rule="optional",
        )
        if isinstance(policy, Guard):
            raise policy.placed_fault(fault, verb, job_state)
        raise fault.at(f"policy {name_of(policy)}")
