"""Placement where any free GPUs will do: who runs is decided by counting, all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from blox.placement.walk.configured import configured
from blox.placement.walk.draining import set_aside
from blox.placement.walk.few_waiting import SHORT_LINE, displaced_by_few, has_one_key
from blox.placement.walk.pinned import place_pinned
from blox.placement.walk.requests import Requests, first_come, front_of_line
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation, Draft
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_SHORT = 1024  # jobs: a longer line is not worth sorting to its end
# (free GPU ids ascending, how many) -> the ids to use, in order; None: the lowest
Assign = Callable[[Array, int], Array] | None


def place_by_count(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState, assign: Assign = None
) -> Allocation:
    """The contract of placement for rules that only count.

    Running jobs stay unless the order displaces them; then the others take GPUs in order, from all that
    are free by then.
    """
    if schedule.pinned is not None:
        return place_pinned(schedule, cluster_state, job_state)
    if schedule.config is not None:
        bare = place_by_count(replace(schedule, config=None), cluster_state, job_state, assign)
        return configured(schedule, bare, cluster_state)
    schedule, kept = set_aside(schedule, cluster_state, job_state)
    newcomers = _who_alone_matters(schedule, cluster_state, job_state)
    if newcomers is not None:
        return _start(newcomers, cluster_state, job_state, assign)
    if _alike(schedule, cluster_state, job_state):
        return _first_in_line(schedule, cluster_state, job_state, assign)
    if _few_wait(schedule, cluster_state, job_state):
        found = displaced_by_few(schedule, job_state, cluster_state.free_gpus)
        if found is not None:
            return _displace(*found, cluster_state, job_state, assign)
    requests = Requests(schedule, cluster_state, job_state, kept)
    waiting, free = requests.waiting, requests.free
    if not waiting or (not free and (not schedule.preempt or requests.nobody_behind())):
        return requests.settled()
    leaving = NO_ROWS
    if waiting <= free and (requests.single or int(requests.need[requests.pending].sum()) <= free):
        starting = schedule.rank(requests.pending.nonzero()[0])
    elif not schedule.preempt:
        in_line = schedule.rank(requests.pending.nonzero()[0])
        starting = in_line[first_come(requests.need[in_line], free, schedule.strict)]
    else:
        starting, leaving = _displacing(requests)
    if not len(starting):
        return requests.settled(leaving)
    draft = requests.draft(leaving)
    need = requests.need[: len(starting)] if requests.single else requests.need.take(starting)
    count = len(starting) if requests.single else int(need.sum())
    gpus = _choose(count, draft, cluster_state, assign)
    _put(draft, requests, schedule.jobs.take(starting), need, gpus)
    return draft.outcome(
        blocked=schedule.strict and len(starting) < waiting, settled=not len(requests.unlisted)
    )


def _who_alone_matters(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Array | None:
    """The rows that start, in order, where only this round's newcomers can, and all of them fit; or None.

    Everybody else runs, or is sure to go on waiting: the last placement was settled, nobody has left, the
    order of the others stands as promised, and newcomers who take free GPUs only leave them fewer.
    """
    allocation = cluster_state.allocation
    if schedule.gpus is not None or not schedule.lists_all(job_state):
        return None
    newcomers = job_state.just_admitted
    if job_state.active_count - allocation.size != len(newcomers) and (
        schedule.strict or not allocation.settled or job_state.now >= cluster_state.promised_until
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
    return active.take(schedule.rank(active.searchsorted(newcomers)))


def _start(rows: Array, cluster_state: ClusterState, job_state: JobState, assign: Assign) -> Allocation:
    """The present allocation and these jobs, on free GPUs."""
    if not len(rows):
        return cluster_state.allocation.unchanged(blocked=False)
    need, count = job_state.asked_by(rows)
    gpus = _choose(count, None, cluster_state, assign)
    return cluster_state.allocation.with_more(rows, need, gpus, job_state.submitted)


def _choose(count: int, draft: Draft | None, cluster_state: ClusterState, assign: Assign) -> Array:
    """So many GPU ids, of those that are free; with a draft, once it has removed its jobs."""
    if assign is None:
        return cluster_state.lowest_free(count, draft)
    return assign(cluster_state.free_ids(draft), count)


def _alike(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> bool:
    """Whether every job takes one GPU, there are more of them than GPUs, and the order may displace."""
    return (
        job_state.single_gpu
        and schedule.preempt
        and schedule.lists_all(job_state)
        and schedule.gpus is None
        and cluster_state.total_gpus < len(schedule.jobs) <= _SHORT
    )


def _first_in_line(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState, assign: Assign
) -> Allocation:
    """The outcome where jobs are alike: as many as there are GPUs, from the front of the line, run."""
    allocation, capacity = cluster_state.allocation, cluster_state.total_gpus
    rows = schedule.jobs.take(schedule.order)
    waits = np.logical_not(job_state.columns.held_gpus.take(rows))
    starting = rows[:capacity][waits[:capacity]]
    count = len(starting)
    if not count:
        return allocation.unchanged(blocked=schedule.strict)
    draft = Draft(allocation, job_state.submitted)
    if count > capacity - allocation.used:
        draft.remove(rows[capacity:][~waits[capacity:]])
    draft.add(starting, job_state.ones(count), _choose(count, draft, cluster_state, assign))
    blocked = schedule.strict and count < len(rows) - allocation.size
    return draft.outcome(blocked=blocked, settled=True)


def _few_wait(schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> bool:
    """Whether few of many jobs wait, and the order may displace others for them."""
    return (
        0 < job_state.active_count - cluster_state.allocation.size < SHORT_LINE < job_state.active_count
        and schedule.preempt
        and not schedule.strict
        and schedule.gpus is None
        and schedule.lists_all(job_state)
        and has_one_key(schedule)
    )


def _displace(
    starting: list[int],
    counts: list[int],
    leaving: list[int],
    cluster_state: ClusterState,
    job_state: JobState,
    assign: Assign,
) -> Allocation:
    """The present allocation once these rows have made room, and these have started."""
    allocation = cluster_state.allocation
    if not starting:
        return allocation.unchanged(blocked=False)
    draft = Draft(allocation, job_state.submitted)
    if leaving:
        draft.remove(np.array(leaving))
    gpus = _choose(sum(counts), draft, cluster_state, assign)
    draft.add(np.array(starting), np.array(counts), gpus)
    return draft.outcome(settled=True)


def _displacing(requests: Requests) -> tuple[Array, Array]:
    """Positions that start, in order, and the rows of those who make room."""
    schedule, pending = requests.schedule, requests.pending
    contested = requests.contested()
    if contested is not None:
        return _among(contested, requests)
    winners, used = front_of_line(requests)
    starting = winners[pending.take(winners)]
    if not len(starting):
        return starting, NO_ROWS
    if schedule.strict and used < requests.capacity:
        leaving = _tail(requests, int(requests.need[starting].sum()) - requests.free, winners)
    else:  # the winners use everything, or whoever is left was passed over
        losers = ~pending
        losers[winners] = False
        leaving = losers.nonzero()[0]
    return starting, schedule.jobs.take(leaving)


def _among(contested: Array, requests: Requests) -> tuple[Array, Array]:
    """The same where only these positions matter: who is not among them goes on running."""
    schedule, pending = requests.schedule, requests.pending
    line = schedule.rank(contested)
    capacity = requests.free + int(requests.held.take(line).sum())
    wins = np.zeros(len(line), dtype=bool)
    wins[first_come(requests.need.take(line), capacity, strict=False)] = True
    waits = pending.take(line)
    starting = line[wins & waits]
    if not len(starting):
        return starting, NO_ROWS
    return starting, schedule.jobs.take(np.sort(line[~wins & ~waits]))


def _tail(requests: Requests, shortage: int, winners: Array) -> Array:
    """Running jobs released from the end of the order until `shortage` GPUs are found."""
    if shortage <= 0:
        return NO_ROWS
    order = requests.schedule.order
    running = order[~requests.pending[order]][::-1]
    count = int(np.searchsorted(np.cumsum(requests.held[running]), shortage)) + 1
    released = running[:count]
    return released[~np.isin(released, winners)]


def _put(draft: Draft, requests: Requests, jobs: Array, counts: Array, gpus: Array) -> None:
    """A job that is resized was taken off and comes back: it moves."""
    if not len(requests.unlisted):
        draft.add(jobs, counts, gpus)
        return
    again = np.isin(jobs, requests.unlisted)
    of_gpus = np.repeat(again, counts)
    draft.add(jobs[~again], counts[~again], gpus[~of_gpus])
    if again.any():
        draft.move(jobs[again], counts[again], gpus[of_gpus])
