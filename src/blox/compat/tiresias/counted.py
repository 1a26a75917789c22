"""Counting GPUs, in plain Python: at the original's scale quicker than anything with arrays.

What the original's queues decide needs no placement, since they count GPUs themselves: a
`DecidedLine` says which jobs start and stop, and `Counted` carries it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from blox.compat.tiresias.lane import Job
from blox.placement.walk.counting import first_come, first_fit, start
from blox.protocols import for_ever
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.line import ActiveLine
from blox.state.plan import UNCHANGED, Plan
from blox.state.schedule import Schedule

_MANY = 512  # jobs: a longer line is quicker counted all at once


class DecidedLine(ActiveLine):
    """The active jobs, of which it is decided which rows start and which stop."""

    def __init__(self, job_state: JobState, decision: Decision) -> None:
        super().__init__(job_state)
        self.decision = decision


class Decision(NamedTuple):
    """Rows that start, and rows that stop. Queues keep it; the schedule of a round is made from it."""

    starts: list[int]
    stops: list[int]

    def schedule(self, job_state: JobState) -> Schedule:
        return Schedule(line=DecidedLine(job_state, self))


def decided(starts: list[Job], stops: list[Job]) -> tuple[Decision, list[int]]:
    """Which of these start and stop in the end, and the rows of the jobs that stop for no time at all.

    In an instant with several passes a job may do both, more than once: only the outcome is carried out.
    """
    begin = [job.row for job in starts] if starts else []
    end = [job.row for job in stops] if stops else []
    hidden: list[int] = []
    if end and not set(begin).isdisjoint(end):
        for row in dict.fromkeys(end):
            both = min(begin.count(row), end.count(row))
            hidden += [row] * both
            for _ in range(both):
                begin.remove(row)
                end.remove(row)
    return Decision(begin, end), hidden


@dataclass(frozen=True)
class Counted:
    """Gives GPUs to jobs in order, passing over jobs that do not fit; starts get the lowest free ids."""

    ignores_nodes = True

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        if isinstance(schedule.line, DecidedLine):
            starts, stops = schedule.line.decision
        else:
            starts, stops = _walk(schedule, cluster_state, job_state)
        if not (starts or stops):
            return UNCHANGED
        rows, gone = job_state.array_of(starts), job_state.array_of(stops)
        return start(rows, job_state.columns.gpus[rows], cluster_state.holdings, gone=gone)

    stable_until = for_ever


def _walk(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState
) -> tuple[list[int], list[int]]:
    """The jobs that start and stop when jobs take GPUs in the order of the schedule."""
    order = schedule.jobs if not schedule.keys else schedule.jobs.take(schedule.order)
    held, capacity = job_state.columns.held_gpus.take(order), cluster_state.total_gpus
    if held.all():
        return [], []
    if len(order) <= _MANY:
        return first_fit(order.tolist(), capacity, job_state)
    needs = job_state.columns.gpus.take(order)
    winners, others = first_come(np.arange(len(order)), needs, capacity, strict=False)
    return order[winners[held[winners] == 0]].tolist(), order[others[held[others] > 0]].tolist()
