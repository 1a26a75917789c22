"""What a schedule asks of the cluster this round, in the form that placement works on."""

from __future__ import annotations

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation, Draft
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_MANY = 256  # jobs: a line worth looking for those who need not be sorted


class Requests:
    """Arrays aligned with `schedule.jobs`: GPUs needed, GPUs held, who must be placed (`pending`).

    A running job whose grant is unchanged stays; one whose grant changed gives its GPUs up and is
    placed anew. `unlisted` are the rows of the present allocation that hold their GPUs no longer: left out
    by the schedule, or resized. `free` counts the GPUs left when they are gone, `capacity` those that are
    free or held by somebody in line, `waiting` the jobs to be placed.
    """

    __slots__ = (
        "allocation",
        "capacity",
        "free",
        "held",
        "need",
        "pending",
        "rows",
        "schedule",
        "single",
        "unlisted",
        "waiting",
    )

    def __init__(
        self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState, kept: Array = NO_ROWS
    ) -> None:
        """`kept` are rows that run, and go on running, although the schedule does not list them."""
        columns, jobs = job_state.columns, schedule.jobs
        self.schedule = schedule
        self.allocation: Allocation = cluster_state.allocation
        self.held: Array = columns.held_gpus.take(jobs)
        self.single: bool = schedule.gpus is None and job_state.single_gpu  # everybody needs one GPU
        if schedule.gpus is not None:
            self.need: Array = schedule.gpus
        else:
            self.need = job_state.ones(len(jobs)) if self.single else columns.gpus.take(jobs)
        self.rows: int = job_state.submitted  # every row is below
        self.unlisted: Array = NO_ROWS
        self.capacity: int = cluster_state.total_gpus
        self.free: int = self.capacity - self.allocation.used
        if schedule.gpus is not None or jobs is not job_state.active:
            self._leave_out(cluster_state, job_state, kept)
        if cluster_state.draining:
            self.capacity = self.free + int(self.held.sum())
        self.pending: Array = self.held == 0
        self.waiting: int = len(jobs) - self.allocation.size + len(self.unlisted) + len(kept)

    def _leave_out(self, cluster_state: ClusterState, job_state: JobState, kept: Array) -> None:
        """Jobs that the schedule does not list, or grants another number of GPUs, give theirs up."""
        same = self.held == self.need
        stays = np.zeros(job_state.submitted, dtype=bool)
        stays[self.schedule.jobs[same]] = True
        stays[kept] = True
        running = self.allocation.jobs
        self.unlisted = running[~stays[running]]
        self.held = np.where(same, self.held, 0)
        if cluster_state.draining:  # where a draining node stays as it is
            assert self.allocation.owner is not None
            held = np.isin(self.allocation.owner, self.unlisted)
            self.free += int((held & cluster_state.node_up[cluster_state.gpu_node]).sum())
        else:
            self.free += int(job_state.columns.held_gpus[self.unlisted].sum())

    def settled(self, leaving: Array = NO_ROWS) -> Allocation:
        """The allocation when nobody new is placed; `leaving` are rows that go beside the unlisted."""
        gone = self._gone(leaving)
        blocked = self.schedule.strict and self.waiting > 0
        if not len(gone):
            return self.allocation.unchanged(blocked=blocked)
        draft = Draft(self.allocation, self.rows)
        draft.remove(gone)
        return draft.outcome(blocked=blocked)

    def draft(self, leaving: Array) -> Draft:
        """A draft of the new allocation without the unlisted and the `leaving` rows."""
        draft = Draft(self.allocation, self.rows)
        gone = self._gone(leaving)
        if len(gone):
            draft.remove(gone)
        return draft

    def _gone(self, leaving: Array) -> Array:
        if not len(self.unlisted):
            return leaving
        return np.union1d(self.unlisted, leaving)

    def nobody_behind(self) -> bool:
        """Whether, in an order that needs no sorting, every running job stands before every pending one."""
        if self.schedule.keys:
            return False
        return bool(self.pending[int(self.pending.argmax()) :].all())

    def contested(self) -> Array | None:
        """The positions from the first waiting job on, where those before it are many; else None.

        Who stands before runs, and goes on running: all that it needs, it holds.
        """
        schedule, size = self.schedule, len(self.need)
        if len(schedule.keys) != 1 or schedule.strict or size < _MANY:
            return None
        key = schedule.keys[0]
        first = key.take(self.pending.nonzero()[0]).min()
        sample = key[:: size // 32]
        if 2 * np.count_nonzero(sample >= first) > len(sample):
            return None
        behind: Array = key >= first
        return behind.nonzero()[0]


def first_come(need: Array, capacity: int, strict: bool) -> Array:
    """Which of the jobs, in this order, get GPUs when GPUs are merely counted, as ascending positions.

    A job that does not fit is passed over, or ends the line if `strict`. The walk over jobs with
    displacement from the end of the order chooses exactly these (a job at some place in line can use
    what all those behind it hold), so that walk need not be walked.
    """
    total = need.cumsum()
    fits = int(total.searchsorted(capacity, side="right"))
    if strict or fits == len(need):
        return np.arange(fits)
    chosen = [np.arange(fits)]
    line = np.arange(len(need))
    while fits < len(line):
        if fits:
            capacity -= int(total[fits - 1])
        if not capacity:
            break
        rest = line[fits + 1 :]
        line = rest[need[rest] <= capacity]
        total = need[line].cumsum()
        fits = int(total.searchsorted(capacity, side="right"))
        chosen.append(line[:fits])
    return np.concatenate(chosen)


def front_of_line(requests: Requests) -> tuple[Array, int]:
    """The jobs that first_come() chooses out of all: (their positions in order, their GPUs).

    Only as much of the order as matters is sorted.
    """
    schedule, need, capacity = requests.schedule, requests.need, requests.capacity
    guess = requests.allocation.size + requests.allocation.size // 8 + 64  # about as many as run now
    line = schedule.front(need, capacity, guess)
    while True:
        in_line = need.take(line)
        if schedule.strict:
            total = in_line.cumsum()
            fits = int(total.searchsorted(capacity, side="right"))
            return line[:fits], int(total[fits - 1]) if fits else 0
        chosen = first_come(in_line, capacity, strict=False)
        used = int(in_line.take(chosen).sum())
        if used == capacity or len(line) == len(need):
            return line.take(chosen), used
        line = schedule.front(need, 2 * int(in_line.sum()), 2 * len(line))
