"""What a schedule asks of the cluster this round, in the form that placement works on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from blox.cluster_state import ClusterState
from blox.job_state import JobState
from blox.plan import Allocation
from blox.schedule import Schedule
from blox.workloads.table import Array


@dataclass(frozen=True, eq=False)
class Requests:
    """Arrays aligned with `schedule.jobs`: GPUs needed, GPUs held, who must be placed (`pending`).

    A running job whose grant is unchanged stays; one whose grant changed gives its GPUs up and is
    placed anew. `unlisted` marks the jobs of the present allocation that hold their GPUs no longer:
    left out by the schedule, or resized. `free` counts the GPUs left when they are gone.
    """

    schedule: Schedule
    allocation: Allocation
    need: Array
    held: Array
    pending: Array
    unlisted: Array | None
    free: int

    @classmethod
    def of(cls, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Requests:
        columns, jobs = job_state.columns, schedule.jobs
        held = columns.held_gpus[jobs]
        need = columns.gpus[jobs] if schedule.gpus is None else schedule.gpus
        allocation, unlisted = cluster_state.allocation, None
        free = cluster_state.free_gpus
        if schedule.gpus is not None or jobs is not job_state.active:
            stays = np.zeros(job_state.submitted, dtype=bool)
            stays[jobs[held == need]] = True
            unlisted = ~stays[allocation.jobs]
            held = np.where(held == need, held, 0)
            if unlisted.any():
                free += int(allocation.counts[unlisted].sum())
            else:
                unlisted = None
        return cls(schedule, allocation, need, held, held == 0, unlisted, free)

    def settled(self, leave: Array | None = None) -> Allocation:
        """The allocation when nobody new is placed; `leave` overrides who goes."""
        leave = self.unlisted if leave is None else leave
        if leave is not None:
            return replace(self.allocation.without(leave), blocked=self.schedule.strict)
        blocked = self.schedule.strict and bool(self.pending.any())
        if blocked == self.allocation.blocked:
            return self.allocation
        return replace(self.allocation, blocked=blocked, base=self.allocation)


def first_come(need: Array, capacity: int, strict: bool) -> Array:
    """Which of the jobs, in this order, get GPUs when GPUs are merely counted.

    A job that does not fit is passed over, or ends the line if `strict`. The walk over jobs with
    displacement from the end of the order chooses exactly these (a job at some place in line can use
    what all those behind it hold), so that walk need not be walked.
    """
    chosen = np.zeros(len(need), dtype=bool)
    line = np.arange(len(need))
    while len(line) and capacity:
        total = np.cumsum(need[line])
        fits = int(np.searchsorted(total, capacity, side="right"))
        chosen[line[:fits]] = True
        if strict or fits == len(line):
            break
        if fits:
            capacity -= int(total[fits - 1])
        rest = line[fits + 1 :]
        line = rest[need[rest] <= capacity]
    return chosen


def front_of_line(requests: Requests, capacity: int) -> tuple[Array, Array]:
    """The jobs that first_come() chooses out of all, as (positions in order, chosen).

    Only as much of the order as matters is sorted.
    """
    schedule, need = requests.schedule, requests.need
    size = len(need)
    wanted = size if not size else min(size, int(1.2 * capacity * size / max(1, int(need.sum()))) + 64)
    while True:
        line = schedule.head(wanted)
        chosen = first_come(need[line], capacity, schedule.strict)
        full = int(need[line][chosen].sum()) == capacity
        if full or len(line) == size or (schedule.strict and not chosen.all()):
            return line, chosen
        wanted = size
