"""What a schedule asks of the cluster this round, in the form that the walks work on."""

from __future__ import annotations

import numpy as np

from blox.placement.walk.draining import set_aside
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Plan, PlanBuilder
from blox.state.schedule import Schedule
from blox.workloads.table import Array


class Requests:
    """Arrays aligned with `schedule.jobs`: GPUs needed, GPUs held, which jobs must be placed (`pending`).

    A running job whose grant is unchanged stays; one whose grant changed gives its GPUs up and is placed
    anew. `unlisted` are the running rows that hold their GPUs no longer: left out by the schedule, or
    resized. `free` counts the GPUs left when they are gone, `capacity` all GPUs, `waiting` the jobs to be
    placed. `single`: every job needs one GPU. `kept` are running rows that are out of the walk: they stay on
    draining nodes until they end, since to displace one would free little or nothing."""

    def __init__(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> None:
        self.kept: Array = NO_ROWS
        if cluster_state.draining:
            schedule, self.kept = set_aside(schedule, cluster_state, job_state)
        columns, jobs, holdings = job_state.columns, schedule.jobs, cluster_state.holdings
        self.schedule, self.holdings = schedule, holdings
        self.held: Array = columns.held_gpus[jobs]
        self.single: bool = schedule.gpus is None and job_state.single_gpu
        if schedule.gpus is not None:
            self.need: Array = schedule.gpus
        else:
            self.need = job_state.ones(len(jobs)) if self.single else columns.gpus[jobs]
        self.unlisted: Array = NO_ROWS
        self.capacity: int = cluster_state.total_gpus
        self.free: int = cluster_state.free_gpus
        if schedule.gpus is not None or job_state.resized or jobs is not job_state.active:
            self._leave_out(cluster_state, job_state)
        if cluster_state.draining:
            self.capacity = self.free + int(self.held.sum())
        self.pending: Array = self.held == 0
        self.waiting: int = len(jobs) - holdings.size + len(self.unlisted) + len(self.kept)

    def _leave_out(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Jobs that the schedule does not list, or grants another number of GPUs, give theirs up."""
        same = self.held == self.need
        stays = np.zeros(job_state.submitted, dtype=bool)
        stays[self.schedule.jobs[same]] = stays[self.kept] = True
        running = self.holdings.jobs
        self.unlisted = running[~stays[running]]
        self.held = np.where(same, self.held, 0)
        if cluster_state.draining:  # what is given back there is not free
            given = cluster_state.gpu_node[self.holdings.held_by(self.unlisted)]
            self.free += int(cluster_state.node_up[given].sum())
        else:
            self.free += int(job_state.columns.held_gpus[self.unlisted].sum())

    @property
    def hopeless(self) -> bool:
        """Whether no job can be placed: none waits, or nothing is free and none may be displaced."""
        return not self.waiting or not (self.free or self.schedule.preempt)

    def unplaced(self, leaving: Array = NO_ROWS) -> Plan:
        """The plan when no job is placed; `leaving` are rows that go beside the unlisted."""
        blocked = self.schedule.strict and self.waiting > 0
        if not len(leaving) and not len(self.unlisted):
            return Plan(blocked=blocked, settled=True)
        return self.change(leaving).plan(blocked=blocked)

    def change(self, leaving: Array) -> PlanBuilder:
        """A plan in the making, without the unlisted and the `leaving` rows."""
        change = self.holdings.change()
        gone = np.union1d(self.unlisted, leaving) if len(self.unlisted) else leaving
        if len(gone):
            change.remove(gone)
        return change
