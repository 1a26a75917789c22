from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from blox.compat.tiresias.counted import Decision, decided
from blox.compat.tiresias.lane import NEVER, Job
from blox.compat.tiresias.mlfq import counts
from blox.compat.tiresias.queues import Queues
from blox.compat.tiresias.tables import rounded
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.state.schedule import Schedule
from blox.workloads.table import Array

INTERVAL_S = 600
LIMIT = 3600  # GPU-seconds


@dataclass
class Group:
    """The jobs of one GPU count: their queues, and the GPUs set aside for them."""

    gpus: int
    queues: Queues
    reserved: int = 0

    @property
    def demand(self) -> int:
        return len(self.queues.jobs) * self.gpus


@dataclass
class _State:
    groups: dict[int, Group] = field(default_factory=dict)  # in the order of the original's dictionary
    rows: Array = field(default_factory=lambda: NO_ROWS)
    seen: int = 0
    now: int = -1
    jump: int = NEVER
    mark: int = INTERVAL_S
    decision: Decision | None = None  # of the last instant
    hidden: list[int] = field(default_factory=list)  # rows preempted for no time, once for each time


@dataclass(frozen=True)
class Groups:
    """The original's `multi-dlas-gpu`: two queues per GPU count, each count with GPUs of its own.

    GPUs are set aside every 600 s by demand; before the first time nothing starts. A time at which
    something else happens too comes after that, at the same instant.
    """

    late_demotion: bool = True
    running_first: bool = True

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        state = job_state.memory(self, _State)
        active, now = job_state.active, int(job_state.now)
        fresh = active[active.searchsorted(state.seen) :]
        ended = len(state.rows) + len(fresh) != len(active)
        if now == state.now and not ended and not len(fresh) and state.decision is not None:
            return state.decision.schedule(job_state)
        self._take_in(state, fresh, ended, job_state)
        due = now == state.mark
        if due and not ended and not len(fresh) and now != state.jump:
            self._set_aside(state, cluster_state.total_gpus)  # nothing but that happens now
            due = False
        starts, stops = self._pass(state, now)
        any_running = any(group.queues.used for group in state.groups.values())
        if due and (any_running or _more_to_come(job_state)):
            self._set_aside(state, cluster_state.total_gpus)
            more, _ = self._pass(state, now)
            starts = starts + more
        state.now, state.rows = now, active
        state.decision, hidden = decided(starts, stops)
        state.hidden += hidden
        return state.decision.schedule(job_state)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        state = job_state.memory(self, _State)
        wake = min(state.jump, state.mark)
        return math.inf if wake == NEVER else float(wake)

    def job_columns(self, job_state: JobState) -> dict[str, Array]:
        """Promotions, and preemptions with those that lasted for no time."""
        state = job_state.memory(self, _State)
        return counts((group.queues for group in state.groups.values()), state.hidden, job_state)

    def _take_in(self, state: _State, fresh: Array, ended: bool, job_state: JobState) -> None:
        columns, now = job_state.columns, int(job_state.now)
        if not state.groups and len(fresh):
            for gpus in _dictionary_order(columns.gpus[: _staged(job_state)].tolist()):
                queues = Queues([LIMIT], late=self.late_demotion, running_first=self.running_first)
                state.groups[gpus] = Group(gpus, queues)
        if ended:
            for row in state.rows[columns.status.take(state.rows) == FINISHED].tolist():
                state.groups[int(columns.gpus[row])].queues.remove(row)
        for row in fresh.tolist():
            gpus = int(columns.gpus[row])
            state.groups[gpus].queues.arrive(row, gpus, now)
            state.seen = row + 1

    def _pass(self, state: _State, now: int) -> tuple[list[Job], list[Job]]:
        """One event: moves jobs between queues and gives out GPUs; (jobs that start, jobs that stop)."""
        starts: list[Job] = []
        stops: list[Job] = []
        state.jump = NEVER
        for group in state.groups.values():
            group.queues.move(now)
            started, stopped = group.queues.serve(group.reserved, now)
            starts += started
            stops += stopped
            state.jump = min(state.jump, group.queues.next_jump(now))
        return starts, stops

    def _set_aside(self, state: _State, total: int) -> None:
        """Shares the GPUs out by demand; GPUs in use stay where they are."""
        state.mark += INTERVAL_S
        groups = list(state.groups.values())
        demanded = sum(group.demand for group in groups)
        if not demanded:
            return
        left = total - sum(group.queues.used for group in groups)
        share = dict.fromkeys((group.gpus for group in groups), 0)
        for group in sorted(groups, key=lambda group: group.demand):
            n, used = group.gpus, group.queues.used
            if not group.demand:
                continue
            fair = math.floor(rounded(group.demand / demanded, 2) * total / n) * n
            more = max(0, min(fair, group.demand) - used)
            if more > left:
                more = left // n * n
            share[n] = used + more
            left -= more
        self._leftovers(sorted(groups, key=lambda group: group.gpus), share, left)
        for group in groups:
            group.reserved = share[group.gpus]

    def _leftovers(self, groups: list[Group], share: dict[int, int], left: int) -> None:
        """What is left goes out one job at a time, the smallest first, as long as a group can use it."""
        full = 0
        while left > 0 and full < len(groups):
            full = 0
            for group in groups:
                if group.demand <= share[group.gpus] or left < group.gpus:
                    full += 1
                else:
                    left -= group.gpus
                    share[group.gpus] += group.gpus


def _staged(job_state: JobState) -> int:
    """How many jobs are known to come: the original knows its whole trace."""
    return job_state._staged


def _more_to_come(job_state: JobState) -> bool:
    return job_state.submitted < _staged(job_state)


def _dictionary_order(keys: Iterable[int]) -> list[int]:
    """The order in which a dictionary of Python 2 lists small whole numbers, put in in this order."""
    slots: list[int | None] = [None] * 8
    used: list[int] = []
    for key in dict.fromkeys(keys):
        _put(slots, key)
        used.append(key)
        if 3 * len(used) >= 2 * len(slots):
            size = 8
            while size <= 4 * len(used):
                size *= 2
            old, slots = slots, [None] * size
            for each in old:
                if each is not None:
                    _put(slots, each)
    return [each for each in slots if each is not None]


def _put(slots: list[int | None], key: int) -> None:
    mask, perturb = len(slots) - 1, key
    at = key & mask
    while slots[at & mask] is not None:
        at = 5 * at + perturb + 1
        perturb >>= 5
    slots[at & mask] = key
