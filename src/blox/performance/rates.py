"""PerformanceModel: what says how fast jobs run; and what is wrong with the rates that one gives."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from blox.errors import BloxError
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array


class PerformanceModel(Protocol):
    """How fast jobs run on the GPUs they are given: 1.0 is the speed that their duration implies."""

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float: ...


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


def check_alone(model: object, grants: Allocation, job_state: JobState) -> None:
    """Raises BloxError for jobs that share GPUs, for models that know how fast jobs are alone only."""
    if grants.share_group is None or not (grants.share_group >= 0).any():
        return
    place = int((grants.share_group >= 0).argmax())
    one, other = (job_state.columns.job_id[int(row[place])] for row in (grants.jobs, grants.share_group))
    raise BloxError(
        f"jobs {one!r} and {other!r} share GPUs, and the performance model does not know how fast two "
        "jobs are on the same GPUs",
        where=f"{model!r}, at {job_state.now:.12g} s",
        fix="--performance throughputs or spread know it for models that were measured; "
        "one of your own says simulation = SharedSimulation",
    )
