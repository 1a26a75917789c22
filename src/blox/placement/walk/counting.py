"""The walk where any free GPUs will do: counting decides which jobs run, for all jobs at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blox import Allocation, ClusterState, JobState, Plan, Schedule
from blox.placement.walk.requests import Requests, placed
from blox.state.columns import SCALAR_MAX
from blox.state.holdings import Holdings
from blox.state.plan import NO_ROWS, NOTHING, UNCHANGED
from blox.workloads.table import Array

# (free GPU ids ascending, number needed) -> the ids to use, in order; None: the lowest
Assign = Callable[[Array, int], Array] | None


def place_by_count(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState, assign: Assign = None
) -> Plan:
    """The contract of placement for rules that only count GPUs.

    Running jobs stay unless the order displaces them. Then the jobs that start take GPUs in order, from all
    that are free by then."""
    plain = schedule.gpus is None and schedule.pinned is None and schedule.config is None
    if plain and cluster_state.holdings.bare and not job_state.resized and schedule.line.lists_all(job_state):
        plan = _start_newcomers(schedule, cluster_state, job_state, assign)
        plan = _start_contested(schedule, cluster_state, job_state, assign) if plan is None else plan
        if plan is not None:
            return plan
    return placed(schedule, cluster_state, job_state, lambda requests: _count(requests, assign))


def start(
    rows: Array,
    need: Array,
    holdings: Holdings,
    assign: Assign = None,
    *,
    gone: Array = NO_ROWS,
    blocked: bool = False,
) -> Plan:
    """The plan by which `rows` start, on GPUs that are free once the rows `gone` have left.

    None of `rows` may be in `gone`."""
    freed = holdings.held_by(gone) if len(gone) else NO_ROWS  # most starts displace no job
    launch = _grants(rows, need, freed, holdings, assign)
    return Plan(launch, gone, freed=freed, blocked=blocked, settled=True)


def _grants(rows: Array, need: Array, freed: Array, holdings: Holdings, assign: Assign) -> Allocation:
    """GPUs for `rows`, of those that are free once the GPUs `freed` are."""
    if not len(rows):
        return NOTHING
    count = sum(need.tolist()) if len(need) <= SCALAR_MAX else int(need.sum())
    free = holdings.free
    gpus = free.lowest(count, freed) if assign is None else assign(free.ids_with(freed), count)
    return Allocation(rows, need, gpus)


def _count(requests: Requests, assign: Assign) -> Plan:
    """The walk over all jobs of the schedule."""
    schedule, need, free, leaving = requests.schedule, requests.need, requests.free, NO_ROWS
    short = requests.waiting > free
    if not short and not requests.single:
        short = int(need[requests.pending].sum()) > free
    if short and schedule.preempt:
        starting, leaving = _displacing(requests)
    else:
        starting = schedule.line.rank(requests.pending.nonzero()[0])
        if short:
            starting, _ = first_come(starting, need, free, schedule.strict)
    if not len(starting):
        return requests.unplaced()
    blocked = schedule.strict and (len(starting) < requests.waiting or len(leaving) > 0)
    gone, rows, need = requests.gone(leaving), schedule.jobs[starting], need[starting]
    if len(requests.unlisted):  # one that is placed again moves, and the plan is not settled
        freed = requests.holdings.held_by(gone)
        return Plan.of(gone, freed, _grants(rows, need, freed, requests.holdings, assign), blocked=blocked)
    return start(rows, need, requests.holdings, assign, gone=gone, blocked=blocked)


def _displacing(requests: Requests) -> tuple[Array, Array]:
    """The positions that start, in order, and the running rows that are displaced, ascending."""
    schedule, need, pending = requests.schedule, requests.need, requests.pending
    order = schedule.order
    if requests.single:
        winners, others = order[: requests.capacity], order[requests.capacity :]
    else:
        winners, others = first_come(order, need, requests.capacity, schedule.strict)
    starting = winners[pending[winners]]
    shortage = (len(starting) if requests.single else int(need[starting].sum())) - requests.free
    if shortage <= 0:  # a running job is displaced only if the starting ones need more than is free
        return starting, NO_ROWS
    leaving = others[~pending[others]]
    if schedule.strict and not requests.single:
        # Of the running jobs behind the one that ended the walk, displace only as many, last first, as the
        # starting jobs need.
        released = requests.held[leaving[::-1]].cumsum()
        leaving = leaving[len(leaving) - int(released.searchsorted(shortage)) - 1 :]
    leaving.sort()
    return starting, schedule.jobs[leaving]


def first_come(line: Array, need: Array, capacity: int, strict: bool) -> tuple[Array, Array]:
    """The positions in `line` that get GPUs when any GPUs will do, and the rest, both in order.

    A job that does not fit is passed over, or ends the line if `strict`. The walk that displaces jobs from
    the end of the order chooses exactly these (a job can use what all jobs behind it hold), so the walk need
    not be run.
    """
    need = need[line]
    total = need.cumsum()
    fits = int(total.searchsorted(capacity, side="right"))
    left = capacity - (total.item(fits - 1) if fits else 0)
    if strict or not left or fits == len(line):
        return line[:fits], line[fits:]
    wins, rest = np.arange(len(line)) < fits, np.arange(fits + 1, len(line))
    while len(rest := rest[need[rest] <= left]):
        total = need[rest].cumsum()
        fits = int(total.searchsorted(left, side="right"))
        wins[rest[:fits]] = True
        left -= total.item(fits - 1)
        rest = rest[fits + 1 :]
    return line[wins], line[~wins]


def first_fit(line: list[int], capacity: int, job_state: JobState) -> tuple[list[int], list[int]]:
    """The rows of `line` that start and those that stop, both in order, by the rule of `first_come`.

    `capacity`: number of GPUs that these rows may hold together. One by one, which is faster for few."""
    gpus, held = job_state.scalars.gpus, job_state.scalars.held_gpus
    starting: list[int] = []
    leaving: list[int] = []
    for row in line:
        if gpus[row] <= capacity:
            capacity -= gpus[row]
            if not held[row]:
                starting.append(row)
        elif held[row]:
            leaving.append(row)
    return starting, leaving


# -- shortcuts to the same plan when few active jobs can change --------------------------------------------


def _start_newcomers(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState, assign: Assign
) -> Plan | None:
    """The plan if only newly admitted jobs can start this round, and all of them fit; else None.

    Every other job runs, or cannot start: the last placement was settled, no job has ended since, the parts
    promise that the order of the other jobs is unchanged, and newcomers only reduce the number of free GPUs.
    """
    newcomers, holdings = job_state.just_admitted, cluster_state.holdings
    if job_state.active_count - holdings.size != len(newcomers) and (
        schedule.strict or not holdings.settled or job_state.now >= cluster_state.promised_until
    ):
        return None
    if not len(newcomers):
        return UNCHANGED
    need = job_state.columns.gpus[newcomers]
    if sum(need.tolist()) > cluster_state.free_gpus:
        return None
    if len(newcomers) > 1:
        newcomers = job_state.active.take(schedule.line.rank(job_state.active.searchsorted(newcomers)))
        need = job_state.columns.gpus[newcomers]
    return start(newcomers, need, holdings, assign)


def _start_contested(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState, assign: Assign
) -> Plan | None:
    """The plan if the line of the schedule knows which jobs may start or be displaced; else None.

    These compete for the GPUs that they hold or that are free."""
    waiting = job_state.active_count - cluster_state.holdings.size
    if schedule.strict or not schedule.preempt or cluster_state.draining or not waiting:
        return None
    if (contested := schedule.line.contested(job_state, cluster_state.free_gpus)) is None:
        return None
    held = job_state.scalars.held_gpus
    free = cluster_state.free_gpus + sum([held[row] for row in contested])
    starting, leaving = first_fit(contested, free, job_state)
    if not starting:
        return UNCHANGED
    rows, gone = job_state.array_of(starting), job_state.array_of(sorted(leaving))
    return start(rows, job_state.columns.gpus[rows], cluster_state.holdings, assign, gone=gone)
