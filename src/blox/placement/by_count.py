"""Placement where any free GPUs will do: who runs is decided by counting, all at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blox.cluster_state import WHOLE, ClusterState
from blox.job_state import JobState
from blox.placement.requests import Requests, first_come, front_of_line
from blox.plan import NO_ROWS, Allocation
from blox.schedule import Schedule
from blox.workloads.table import Array

Assign = Callable[[Array, int], Array]  # (free GPU ids ascending, how many) -> the ids to use, in order


def lowest_ids(free: Array, count: int) -> Array:
    """The free GPUs with the lowest ids."""
    return free[:count]


def place_by_count(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState, assign: Assign = lowest_ids
) -> Allocation:
    """The contract of placement for rules that only count.

    Running jobs stay unless the order displaces them; then the others take GPUs in order, from all that
    are free by then.
    """
    requests = Requests(schedule, cluster_state, job_state)
    pending = requests.pending.nonzero()[0]
    if not len(pending):
        return requests.settled()
    if not requests.free and (not schedule.preempt or requests.nobody_behind()):
        return requests.settled()
    leave = requests.unlisted
    if requests.free and int(requests.need.take(pending).sum()) <= requests.free:
        starting = schedule.rank(pending)
    elif not schedule.preempt:
        in_line = schedule.rank(pending)
        starting = in_line[first_come(requests.need[in_line], requests.free, schedule.strict)]
    else:
        starting, displaced = _displacing(requests)
        if displaced is not None:
            leave = displaced if leave is None else leave | displaced
    if not len(starting):
        return requests.settled(leave)
    need = requests.need.take(starting)
    free = cluster_state.free_milli == WHOLE
    if leave is not None:
        free[requests.allocation.gpus[_by_gpu(leave, requests.allocation)]] = True
    gpus = assign(free.nonzero()[0], int(need.sum()))
    blocked = schedule.strict and len(starting) < len(pending)
    return _with_new(requests, leave, schedule.jobs.take(starting), need, gpus, blocked)


def _displacing(requests: Requests) -> tuple[Array, Array | None]:
    """Positions that start, in order, and a mask over the allocation of those who make room."""
    schedule, allocation, pending = requests.schedule, requests.allocation, requests.pending
    _, winners, used = front_of_line(requests, requests.capacity)
    starting = winners[pending.take(winners)]
    if not len(starting):
        return starting, None
    if schedule.strict and used < requests.capacity:
        leaving = _tail(requests, int(requests.need[starting].sum()) - requests.free, winners)
    else:  # the winners use everything, or whoever is left was passed over
        losers = ~pending
        losers[winners] = False
        leaving = losers.nonzero()[0]
    if not len(leaving):
        return starting, None
    rows = schedule.jobs.take(leaving)
    if len(rows) == 1:
        return starting, allocation.jobs == rows[0]
    marked = np.zeros(requests.rows, dtype=bool)
    marked[rows] = True
    return starting, marked.take(allocation.jobs)


def _tail(requests: Requests, shortage: int, winners: Array) -> Array:
    """Running jobs released from the end of the order until `shortage` GPUs are found."""
    if shortage <= 0:
        return NO_ROWS
    order = requests.schedule.order
    running = order[~requests.pending[order]][::-1]
    count = int(np.searchsorted(np.cumsum(requests.held[running]), shortage)) + 1
    released = running[:count]
    return released[~np.isin(released, winners)]


def _by_gpu(mask: Array, allocation: Allocation) -> Array:
    """A mask over jobs as a mask over their GPUs."""
    return mask if len(mask) == len(allocation.gpus) else np.repeat(mask, allocation.counts)


def _with_new(
    requests: Requests, leave: Array | None, jobs: Array, counts: Array, gpus: Array, blocked: bool
) -> Allocation:
    """A job that is resized leaves and comes back: it moves, and moves stand last."""
    allocation = requests.allocation
    if requests.unlisted is None:
        return allocation.changed(leave, jobs, counts, gpus, blocked=blocked, settled=True)
    again = np.isin(jobs, allocation.jobs[requests.unlisted])
    if again.any():
        gpus = np.concatenate((gpus[np.repeat(~again, counts)], gpus[np.repeat(again, counts)]))
        sort = np.argsort(again, kind="stable")
        jobs, counts = jobs[sort], counts[sort]
    return allocation.changed(leave, jobs, counts, gpus, moved=int(again.sum()), blocked=blocked)
