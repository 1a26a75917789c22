"""What really happened: every job starts when the log says it did, and runs for as long as it did."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.admission_control.accept_all import AcceptAll
from blox.clock import SHORTEST_QUANTUM_S, Events
from blox.composition import Composition
from blox.performance.duration import Duration
from blox.placement.count import Count
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.termination.completed import Completed
from blox.workloads.table import Array

LATE_S = 1.0  # a start that is later by more than the grain of a log is told


@register.compat("history")
@dataclass(frozen=True)
class History:
    """The cluster itself, as its accounting log has it: the times at which jobs started and ended."""

    changes: ClassVar[dict[str, str]] = {
        "start": "a job starts at its `logged_start_s`, in the order of these times",
        "late_starts": "jobs that found too few free GPUs then, and started later: the cluster that is given "
        "is smaller than the real one was, or the log counts GPUs twice",
        "nodes": "GPUs are counted; on which nodes they were is not known",
        "overheads": "what starting and stopping cost is in the durations of the log",
    }

    def compose(self, round_s: float) -> Composition:
        return Composition(
            admission=AcceptAll(),
            scheduler=AsLogged(),
            placement=Count(),
            termination=Completed(),
            performance=Duration(),
            clock=Events(SHORTEST_QUANTUM_S),
        )


@dataclass(frozen=True)
class AsLogged:
    """Lists the running jobs, and those whose logged start has come."""

    needs_columns: ClassVar[tuple[str, ...]] = ("logged_start_s",)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        start = job_state.column("logged_start_s")
        due = job_state.running | ~(start > job_state.now)
        return Schedule(job_state.active[due], (start[due],), preempt=False)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        start = job_state.column("logged_start_s")
        return float(start[start > job_state.now].min(initial=math.inf))

    def figures(self, job_state: JobState) -> dict[str, int]:
        """How many jobs started later than the log says."""
        return {"late_starts": int((lateness_s(job_state) > LATE_S).sum())}

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> str:
        return "the log says that it did not start before"


def lateness_s(job_state: JobState) -> Array:
    """How much later than logged each job started; 0 for those that never did."""
    count = job_state.submitted
    late = job_state.columns.first_start_s[:count] - job_state.columns.logged_start_s[:count]
    return np.where(np.isnan(late), 0.0, late)
