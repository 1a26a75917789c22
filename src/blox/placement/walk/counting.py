"""The walk where any free GPUs will do: which jobs run is decided by counting, for all of them at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blox.placement.walk.pinned import place_pinned, with_configurations
from blox.placement.walk.requests import Requests
from blox.state.cluster import ClusterState
from blox.state.columns import SCALAR_MAX
from blox.state.holdings import Holdings
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, NOTHING, Allocation, Plan
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
    if schedule.gpus is None and not job_state.resized and schedule.line.lists_all(job_state):
        newcomers = _newcomers_decide(schedule, cluster_state, job_state)
        if newcomers is not None:
            need = job_state.columns.gpus[newcomers]
            plan = exchange(newcomers, need, NO_ROWS, cluster_state.holdings, assign)
        elif (line := _contested(schedule, cluster_state, job_state)) is not None:
            plan = _start_contested(line, cluster_state, job_state, assign)
    if plan is None:
        plan = _count(Requests(schedule, cluster_state, job_state), assign)
    return plan if schedule.config is None else with_configurations(plan, schedule, cluster_state)


def _count(requests: Requests, assign: Assign) -> Plan:
    """The walk over all jobs of the schedule."""
    if requests.hopeless:
        return requests.unplaced()
    schedule, free, need, leaving = requests.schedule, requests.free, requests.need, NO_ROWS
    waiting = requests.waiting
    if waiting <= free and (requests.single or int(need[requests.pending].sum()) <= free):
        starting = schedule.line.rank(requests.pending.nonzero()[0])
    elif not schedule.preempt:
        in_line = schedule.line.rank(requests.pending.nonzero()[0])
        starting = in_line[first_come(need[in_line], free, schedule.strict)]
    else:
        starting, leaving = _displacing(requests)
    count = len(starting)
    if not count:
        return requests.unplaced(leaving)
    rows, need = schedule.jobs[starting], need[:count] if requests.single else need[starting]
    blocked = schedule.strict and count < waiting
    if not len(requests.unlisted):
        return exchange(rows, need, leaving, requests.holdings, assign, blocked)
    change = requests.change(leaving)
    gpus = int(need.sum())
    change.put(rows, need, change.lowest_free(gpus) if assign is None else assign(change.free_ids, gpus))
    return change.plan(blocked=blocked)


def exchange(
    rows: Array, need: Array, leaving: Array, holdings: Holdings, assign: Assign = None, blocked: bool = False
) -> Plan:
    """The plan by which the `leaving` rows stop and these start, on the GPUs that are free by then."""
    freed = holdings.held_by(leaving) if len(leaving) else NO_ROWS
    starting, free = NOTHING, holdings.free
    if len(rows):
        count = sum(need.tolist()) if len(need) <= SCALAR_MAX else int(need.sum())
        gpus = free.lowest(count, freed) if assign is None else assign(free.ids_with(freed), count)
        starting = Allocation(rows, need, gpus)
    return Plan(starting, leaving, NOTHING, NOTHING, freed, blocked, True)


def _displacing(requests: Requests) -> tuple[Array, Array]:
    """Positions that start, in order, and the rows of the running jobs that make room."""
    schedule, capacity, line = requests.schedule, requests.capacity, requests.pending
    order = schedule.order if schedule.keys else None
    if order is not None:
        line = line[order]  # which jobs are pending, in order
    chosen = np.zeros(len(line), dtype=bool)
    if requests.single:
        chosen[:capacity] = True
        full = len(line) >= capacity
    else:
        need = requests.need if order is None else requests.need[order]
        winners = first_come(need, capacity, schedule.strict)
        chosen[winners] = True
        full = not schedule.strict or int(need[winners].sum()) == capacity
    starting = (chosen & line).nonzero()[0]
    if not len(starting):
        return starting, NO_ROWS
    leaving = (~(chosen | line)).nonzero()[0]
    if not full:  # running jobs behind the job that ended the walk leave only as far as they must
        leaving = _tail(requests, starting, leaving, order)
    if order is not None:
        starting, leaving = order[starting], order[leaving]
        leaving.sort()
    return starting, schedule.jobs[leaving]


def _tail(requests: Requests, starting: Array, losers: Array, order: Array | None) -> Array:
    """Those of the losers, from the end of the line, that the jobs which start need to have gone."""
    need, held = (each if order is None else each[order] for each in (requests.need, requests.held))
    shortage = int(need[starting].sum()) - requests.free
    if shortage <= 0:
        return NO_ROWS
    released = held[losers[::-1]].cumsum()
    return losers[len(losers) - int(released.searchsorted(shortage)) - 1 :]


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
    if job_state.columns.gpus[newcomers].sum() > cluster_state.free_gpus:
        return None
    active = job_state.active
    return active.take(schedule.line.rank(active.searchsorted(newcomers)))


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
    rows, off = np.array(starting), np.array(sorted(leaving), dtype=np.int64)
    return exchange(rows, job_state.columns.gpus[rows], off, cluster_state.holdings, assign)
