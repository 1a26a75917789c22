"""Whether jobs are as they were submitted, in a run with policies from outside.

Such a policy shares its process with the simulation. What `seal.py` cannot refuse, because code goes round
it, is found here: when the run has ended, and when it has failed inside blox.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from blox.errors import BloxError
from blox.state.columns import FINISHED, SUBMITTED
from blox.state.jobs import JobState
from blox.workloads.table import Array, JobTable

# Neither beliefs nor defaults change these on their way into the state.
_AS_SUBMITTED = (
    *("submit_s", "gpus", "priority", "deadline_s", "share_milli"),
    *("user", "tenant", "group", "model", "job_type"),
)


class Submissions:
    """The jobs of a run as the workload gave them."""

    def __init__(self) -> None:
        self._tables: list[JobTable] = []

    def noted(self, batches: Iterator[JobTable]) -> Iterator[JobTable]:
        """The same batches, each noted as it passes."""
        for jobs in batches:
            self._tables.append(jobs)
            yield jobs

    def check(self, job_state: JobState, policies: str) -> None:
        """Raises BloxError for the first job that is not as it was submitted, or whose state cannot be.

        `policies` names those that may have done it.
        """
        for name in _AS_SUBMITTED:
            given = [jobs.columns[name] for jobs in self._tables if name in jobs.columns]
            if len(given) == len(self._tables) > 0:
                self._compare(name, np.concatenate(given), job_state, policies)
        columns, count = job_state.columns, job_state.submitted
        status = columns.status[:count]
        for name, wrong in (
            ("held_gpus", columns.held_gpus[:count] < 0),
            ("status", (status < SUBMITTED) | (status > FINISHED)),
            *((name, ~np.isfinite(getattr(columns, name)[:count])) for name in ("rate", "anchor", "done0")),
        ):
            if wrong.any():
                raise _damaged(name, int(np.argmax(wrong)), getattr(columns, name), "", policies)

    def _compare(self, name: str, given: Array, job_state: JobState, policies: str) -> None:
        found: Array = getattr(job_state.columns, name)[: min(job_state.submitted, len(given))]
        given = given[: len(found)]
        differs = found != given
        if given.dtype.kind == "f":
            differs &= ~(np.isnan(found) & np.isnan(given))
        if differs.any():
            row = int(np.argmax(differs))
            raise _damaged(name, row, found, f", and was submitted as {given[row]!s}", policies)


def _damaged(name: str, row: int, values: Array, submitted: str, policies: str) -> BloxError:
    return BloxError(
        f"the state is damaged: {name} of the job in row {row} is {values[row]!s}{submitted}",
        where=policies,
        fix="a policy must not write to the state: look for array.base, ctypes, and names that begin with _",
    )
