"""Requests: what a schedule asks of the cluster this round, as the arrays that the walks read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blox import ClusterState, JobState, Plan, Schedule
from blox.placement.walk.pinned import place_pinned, with_configurations
from blox.state.plan import GRANTS, NO_ROWS
from blox.workloads.table import Array

_COLUMNS = ("gpus", "gpu_type", *GRANTS)


class Requests:
    """Arrays aligned with `schedule.jobs`: GPUs needed, GPUs held, which jobs must be placed (`pending`).

    A running job that keeps its number of GPUs stays. One that is resized gives up its GPUs and is placed
    anew; so is one that shares its GPUs, because no walk supports sharing. `unlisted`: the running rows that
    give up their GPUs, because the schedule leaves them out, or resizes them, or they share. `free`: number
    of free GPUs once these have left. `capacity`: number of GPUs that the walk can distribute, held ones
    included. `waiting`: number of jobs to place. `single`: every job needs one GPU. `kept`: running rows that
    are not in the walk; they stay on draining nodes until they end, because displacing one would free few
    GPUs or none."""

    def __init__(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> None:
        self.kept: Array = NO_ROWS
        if cluster_state.draining:
            schedule, self.kept = _set_aside(schedule, cluster_state, job_state)
        columns, jobs, holdings = job_state.columns, schedule.jobs, cluster_state.holdings
        self.schedule, self.holdings = schedule, holdings
        self.cluster_state, self.job_state = cluster_state, job_state
        self.held: Array = columns.held_gpus[jobs]
        self.single: bool = schedule.gpus is None and job_state.single_gpu
        self.need: Array = columns.gpus[jobs] if schedule.gpus is None else schedule.gpus
        self.unlisted: Array = NO_ROWS
        self.free: int = cluster_state.free_gpus
        if schedule.gpus is not None or job_state.resized or jobs is not job_state.active or holdings.shared:
            self._leave_out()
        self.pending: Array = ~self.held.astype(bool)
        self.capacity: int = cluster_state.total_gpus
        if cluster_state.draining:
            self.capacity = self.free + int(self.held.sum())
        self.waiting: int = len(jobs) - holdings.size + len(self.unlisted) + len(self.kept)

    def _leave_out(self) -> None:
        """Makes jobs give up their GPUs that are unlisted, resized or share GPUs."""
        same = self.held == self.need
        if (partner := self.holdings.allocation.share_group if self.holdings.shared else None) is not None:
            same &= ~np.isin(self.schedule.jobs, self.holdings.allocation.jobs[partner >= 0])
        stays = np.zeros(self.job_state.submitted, dtype=bool)
        stays[self.schedule.jobs[same]] = stays[self.kept] = True
        running = self.holdings.jobs
        self.unlisted = running[~stays[running]]
        self.held = np.where(same, self.held, 0)
        self.free += int(self.given_up().sum())

    def given_up(self) -> Array:
        """Number of GPUs by node that unlisted jobs give up; 0 on nodes that are not up."""
        nodes = self.cluster_state.gpu_node.take(self.holdings.held_by(self.unlisted))
        return np.bincount(nodes, minlength=self.cluster_state.nodes) * self.cluster_state.node_up

    def unplaced(self, leaving: Array = NO_ROWS) -> Plan:
        """The plan when no job is placed; `leaving`: further rows that give up their GPUs."""
        blocked = self.schedule.strict and self.waiting > 0
        gone = self.gone(leaving)
        return Plan.of(gone, self.holdings.held_by(gone), blocked=blocked, settled=not len(gone))

    def gone(self, leaving: Array) -> Array:
        """All rows that give up their GPUs: the unlisted and the `leaving` ones."""
        return np.union1d(self.unlisted, leaving) if len(self.unlisted) else leaving


def placed(
    schedule: Schedule,
    cluster_state: ClusterState,
    job_state: JobState,
    walk: Callable[[Requests], Plan],
) -> Plan:
    """The plan by a walk; handles pinned GPUs, rounds in which no job can be placed, and configurations."""
    if schedule.pinned is not None:
        return place_pinned(schedule, cluster_state, job_state)
    requests = Requests(schedule, cluster_state, job_state)
    can_place = requests.waiting > 0 and (requests.free > 0 or schedule.preempt)
    plan = walk(requests) if can_place else requests.unplaced()
    return plan if schedule.config is None else with_configurations(plan, schedule, cluster_state)


def _set_aside(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState
) -> tuple[Schedule, Array]:
    """The schedule without the running jobs that stay on draining nodes, and the rows of these jobs."""
    kept = np.isin(schedule.jobs, cluster_state.jobs_on(cluster_state.node_draining.nonzero()[0]))
    if schedule.gpus is not None:  # a resized job gives up its GPUs
        kept &= schedule.gpus == job_state.columns.held_gpus.take(schedule.jobs)
    keys = tuple(key[~kept] for key in schedule.keys)
    columns = {name: column[~kept] for name in _COLUMNS if (column := getattr(schedule, name)) is not None}
    rest = Schedule(schedule.jobs[~kept], keys, schedule.strict, schedule.preempt, **columns)
    return rest, schedule.jobs[kept]
