"""The walk where any free GPUs will do: which jobs run is decided by counting, for all of them at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blox.placement.walk.pinned import place_pinned, with_configurations
from blox.placement.walk.requests import Requests
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation, Plan, PlanBuilder
from blox.state.schedule import Schedule
from blox.workloads.table import Array

# (free GPU ids ascending, how many) -> the ids to use, in order; None: the lowest
Assign = Callable[[Array, int], Array] | None


def place_by_count(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState, assign: Assign = None
) -> Plan:
    """The contract of placement for rules that only count.

    Running jobs stay unless the order displaces them; then the others take GPUs in order, from all that are
    free by then."""
    if schedule.pinned is not None:
        return place_pinned(schedule, cluster_state, job_state)
    plan = None
    if schedule.gpus is None and schedule.line.lists_all(job_state):
        newcomers = _newcomers_decide(schedule, cluster_state, job_state)
        if newcomers is not None:
            plan = _start(newcomers, cluster_state, job_state, assign)
        elif (line := _contested(schedule, cluster_state, job_state)) is not None:
            plan = _start_contested(line, cluster_state, job_state, assign)
    if plan is None:
        plan = _count(Requests(schedule, cluster_state, job_state), assign)
    return plan if schedule.config is None else with_configurations(plan, schedule, cluster_state)


def _count(requests: Requests, assign: Assign) -> Plan:
    """The walk over all jobs of the schedule."""
    if requests.hopeless:
        return requests.unplaced()
    schedule, free, leaving = requests.schedule, requests.free, NO_ROWS
    all_fit = requests.waiting <= free and (
        requests.single or int(requests.need[requests.pending].sum()) <= free
    )
    if all_fit:
        starting = schedule.line.rank(requests.pending.nonzero()[0])
    elif not schedule.preempt:
        in_line = schedule.line.rank(requests.pending.nonzero()[0])
        starting = in_line[first_come(requests.need[in_line], free, schedule.strict)]
    else:
        starting, leaving = _displacing(requests)
    if not len(starting):
        return requests.unplaced(leaving)
    change = requests.change(leaving)
    need = requests.need[: len(starting)] if requests.single else requests.need.take(starting)
    count = len(starting) if requests.single else int(need.sum())
    put = change.put if len(requests.unlisted) else change.launch  # a resized job moves
    put(schedule.jobs.take(starting), need, _choose(count, change, assign))
    blocked = schedule.strict and len(starting) < requests.waiting
    return change.plan(blocked=blocked, settled=not len(requests.unlisted))


def _displacing(requests: Requests) -> tuple[Array, Array]:
    """Positions that start, in order, and the rows of the running jobs that make room."""
    schedule, pending, order = requests.schedule, requests.pending, requests.schedule.order
    if requests.single:
        winners, used = order[: requests.capacity], min(len(order), requests.capacity)
    else:
        need = requests.need.take(order)
        chosen = first_come(need, requests.capacity, schedule.strict)
        winners, used = order.take(chosen), int(need.take(chosen).sum())
    starting = winners[pending.take(winners)]
    if not len(starting):
        return starting, NO_ROWS
    if schedule.strict and used < requests.capacity:
        leaving = _tail(requests, int(requests.need[starting].sum()) - requests.free, winners)
    else:  # the winners use everything, or every other job was passed over
        losers = ~pending
        losers[winners] = False
        leaving = losers.nonzero()[0]
    return starting, schedule.jobs.take(leaving)


def _tail(requests: Requests, shortage: int, winners: Array) -> Array:
    """Running jobs released from the end of the order until `shortage` GPUs are found."""
    if shortage <= 0:
        return NO_ROWS
    order = requests.schedule.order
    running = order[~requests.pending[order]][::-1]
    count = int(np.searchsorted(np.cumsum(requests.held[running]), shortage)) + 1
    released = running[:count]
    return released[~np.isin(released, winners)]


def first_come(need: Array, capacity: int, strict: bool) -> Array:
    """Which of the jobs, in this order, get GPUs when GPUs are merely counted, as ascending positions.

    A job that does not fit is passed over, or ends the line if `strict`. The walk over jobs with displacement
    from the end of the order chooses exactly these (a job can use what all jobs behind it hold), so that walk
    need not be walked.
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


# -- shorter ways to the same plan, where few of all active jobs matter ------------------------------------


def _newcomers_decide(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Array | None:
    """The rows that start, in order, where only this round's newcomers can, and all of them fit; or None.

    Every other job runs, or is sure to go on waiting: the last placement was settled, no job has ended, the
    order of the others stands as promised, and newcomers that take free GPUs only leave fewer.
    """
    newcomers, holdings = job_state.just_admitted, cluster_state.holdings
    if job_state.active_count - holdings.size != len(newcomers) and (
        schedule.strict or not holdings.settled or job_state.now >= cluster_state.promised_until
    ):
        return None
    if len(newcomers) == 0:
        return newcomers
    if len(newcomers) == 1:
        fits = job_state.columns.gpus.item(newcomers.item()) <= cluster_state.free_gpus
        return newcomers if fits else None
    if job_state.columns.gpus.take(newcomers).sum() > cluster_state.free_gpus:
        return None
    active = job_state.active
    return active.take(schedule.line.rank(active.searchsorted(newcomers)))


def _start(rows: Array, cluster_state: ClusterState, job_state: JobState, assign: Assign) -> Plan:
    """These jobs start on free GPUs."""
    if not len(rows):
        return Plan(settled=True)
    need, count = job_state.asked_by(rows)
    gpus = cluster_state.lowest_free(count) if assign is None else assign(cluster_state.free_ids(), count)
    return Plan(Allocation(rows, need, gpus), settled=True)


def _contested(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> list[int] | None:
    """The rows, in order, among which it is decided which start, where the schedule's line knows them."""
    if schedule.strict or not schedule.preempt or cluster_state.draining:
        return None
    if job_state.active_count == cluster_state.running_count:
        return None
    return schedule.line.contested(job_state, cluster_state.free_gpus)


def _start_contested(
    line: list[int], cluster_state: ClusterState, job_state: JobState, assign: Assign
) -> Plan:
    """The plan when these rows, in order, share what they hold and what is free."""
    gpus, held = job_state.scalars.gpus, job_state.scalars.held_gpus
    free = cluster_state.free_gpus + sum([held[row] for row in line])
    starting: list[int] = []
    leaving: list[int] = []
    for row in line:
        if gpus[row] <= free:
            free -= gpus[row]
            if not held[row]:
                starting.append(row)
        elif held[row]:
            leaving.append(row)
    if not starting:
        return Plan(settled=True)
    change = cluster_state.holdings.change()
    if leaving:
        change.remove(np.array(sorted(leaving)))
    rows = np.array(starting)
    need, count = job_state.asked_by(rows)
    change.launch(rows, need, _choose(count, change, assign))
    return change.plan(settled=True)


def _choose(count: int, change: PlanBuilder, assign: Assign) -> Array:
    """So many GPU ids, of those that are free once the change has removed its jobs."""
    return change.lowest_free(count) if assign is None else assign(change.free_ids, count)
