"""What is wrong with the rates that a performance model gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.state.jobs import JobState
from blox.state.plan import Allocation


def fault_in(rate: Any, jobs: int) -> str:
    """What is wrong with the rates of so many jobs, in words; "": nothing."""
    try:
        rates = np.asarray(rate, dtype=np.float64)
    except (TypeError, ValueError):
        return f"a rate is {rate!r}"[:200]
    if rates.shape not in ((), (jobs,)):
        return f"{rates.shape} rates for {jobs} jobs"
    wrong = ~(np.isfinite(rates) & (rates > 0))
    return f"a rate is {rates[wrong].flat[0]:g}" if wrong.any() else ""


def check_rates(rate: Any, model: object, grants: Allocation, job_state: JobState) -> None:
    """Raises BloxError for rates with which no job would end, or none could be told apart."""
    if fault := fault_in(rate, len(grants.jobs)):
        raise BloxError(
            f"rate() gives what no job can run at: {fault}",
            where=f"{model!r}, at {job_state.now:.12g} s",
            fix="give one number above 0 for all jobs of the grants, or one for each",
        )
