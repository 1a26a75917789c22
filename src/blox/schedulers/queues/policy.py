from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from blox.registry import register
from blox.schedulers.backfill.profile import Shares, less
from blox.schedulers.backfill.room import FutureRoom
from blox.schedulers.queues.tree import DEFAULT, Queue, read_queues
from blox.state.believed import believed_s
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array

LIMIT = "its queue had as many GPUs as it may have"
NOT_LENT = "the GPUs that are free are those of queues that do not lend"
NO_ROOM = "GPUs were free, but not where it could use them, and its queue had what it is guaranteed"


@register.scheduling("queues", elsewhere={"kueue": "queues:FILE.toml", "yarn": "queues:FILE.toml"})
@dataclass(frozen=True)
class Queues:
    """Queues with guaranteed shares of the GPUs, which borrow what others leave and give it back when asked.

    `path` is the file of queues: `queues:queues.toml` (docs/todays-schedulers.md shows one); without it every
    tenant is a queue, all guaranteed alike. The queue that has least of what it is guaranteed is next, level
    by level down the tree; in it, the most urgent job, then the oldest. A job starts if its queue, and every
    queue around it, stays within `most`. A queue that is guaranteed GPUs which others have borrowed takes
    them back: jobs of the queue that is furthest above its guarantee are preempted, the least urgent first,
    then the youngest, and only as long as that queue is above it. `strict`: a job that does not fit blocks
    those behind it in its queue.

    As in YARN's capacity scheduler (guaranteed and maximum capacity, hierarchy, preemption of what is over
    the guarantee) and Kueue's cohorts (nominal quota, borrowing limit, lending, reclaimWithinCohort). Departs
    from both: GPUs alone are counted; a preempted job stops at once, without a grace period; guarantees are
    parts of the GPUs that are up.
    """

    path: str = ""
    strict: bool = False

    def __post_init__(self) -> None:
        _ = self._given

    @cached_property
    def _given(self) -> dict[str, Queue]:
        return read_queues(self.path) if self.path else {}

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        memory = job_state.memory(self, _Memory)
        queues = memory.learn(job_state, self._given)
        rows, waits = job_state.active, ~job_state.running
        memory.reasons.clear()
        room = FutureRoom(rows[waits], cluster_state, job_state)
        order = np.lexsort((np.arange(len(rows)), -job_state.priority))
        lines: dict[str, list[int]] = {}
        for row in rows.take(order[waits.take(order)]).tolist():
            lines.setdefault(memory.queue_of[row], []).append(row)
        turn = _Turn(queues, memory, room, cluster_state, job_state)
        while lines:
            name = min(lines, key=turn.standing)
            row = lines[name].pop(0)
            if not turn.start(row, queues[name]) and self.strict:
                lines[name].clear()
            if not lines[name]:
                del lines[name]
        memory.started = bool(turn.starting)
        return room.schedule(turn.starting, turn.leaving)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Until jobs start or end. What a queue has just borrowed may be taken back at once."""
        return job_state.now if job_state.memory(self, _Memory).started else math.inf

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> list[str]:
        reasons = job_state.memory(self, _Memory).reasons
        return [reasons.get(row, "") for row in rows.tolist()]


@dataclass
class _Memory:
    queue_of: list[str] = field(default_factory=list)  # by row
    reasons: dict[int, str] = field(default_factory=dict)  # of rows that wait for something else than GPUs
    started: bool = False  # whether jobs started in the last round

    def learn(self, job_state: JobState, given: dict[str, Queue]) -> dict[str, Queue]:
        """The queues, and in which of them each job stands that has been submitted since."""
        of = {tenant: queue.name for queue in given.values() for tenant in queue.tenants}
        of_user = {user: queue.name for queue in given.values() for user in queue.users}
        c = job_state.columns
        for row in range(len(self.queue_of), job_state.submitted):
            tenant, user = str(c.tenant[row]), str(c.user[row])
            self.queue_of.append((of.get(tenant) or of_user.get(user) or DEFAULT) if given else tenant)
        if given:
            return given
        names = dict.fromkeys(self.queue_of)
        return {name: Queue(name, 1 / len(names), 1.0) for name in names}


class _Turn:
    """One round: what every queue holds, which jobs start and which give their GPUs back."""

    def __init__(
        self,
        queues: dict[str, Queue],
        memory: _Memory,
        room: FutureRoom,
        cluster_state: ClusterState,
        job_state: JobState,
    ) -> None:
        self._queues, self._memory, self._room = queues, memory, room
        self._jobs, self._total = job_state, max(cluster_state.total_gpus, 1)
        self._free: Array = room.free
        self._used = dict.fromkeys(queues, 0)
        for row in room.running.tolist():
            self._count(row, 1)
        self.starting: dict[int, Shares] = {}
        self.leaving: list[int] = []

    def standing(self, name: str) -> tuple[tuple[float, str], ...]:
        """By which queues take turns: the part of its guarantee that each has, from the top down."""
        return tuple((self._part(queue), queue.name) for queue in reversed(self._queues[name].above))

    def start(self, row: int, queue: Queue) -> bool:
        """Starts a job if it may and can, after taking back what its queue is guaranteed."""
        need, victims = int(self._jobs.columns.gpus[row]), list[int]()
        borrowers = iter(self._borrowers(queue) if self._guaranteed(queue, need) else ())
        shares = self._place(row, need, queue, victims)
        while shares is None and (victim := next(borrowers, None)) is not None:
            victims.append(victim)
            shares = self._place(row, need, queue, victims)
        if shares is None:
            self._memory.reasons[row] = self._why_not(need, queue)
            return False
        for victim in victims[:-1]:  # the last one was needed; of those before, some may not be
            others = [each for each in victims if each != victim]
            if (again := self._place(row, need, queue, others)) is not None:
                victims, shares = others, again
        for victim in victims:
            self._free = self._free + self._room.held(victim)
            self._count(victim, -1)
        self.leaving += victims
        self._free = less(self._free, shares)
        self.starting[row] = shares
        self._count(row, 1)
        return True

    def _place(self, row: int, need: int, queue: Queue, victims: list[int]) -> Shares | None:
        """Where a job would go if these jobs gave their GPUs back; None: nowhere, or its queue may not."""
        if self._at_limit(queue, need, victims) or self._lent_out(queue, need):
            return None
        free = self._free
        for victim in victims:
            free = free + self._room.held(victim)
        expected_s = believed_s(self._jobs, np.array([row])).item()
        length_s = max(expected_s - float(self._jobs.columns.done0[row]), 0.0)
        return self._room.choose(row, need, length_s)(free, self._room.now)

    def _at_limit(self, queue: Queue, need: int, victims: Sequence[int] = ()) -> bool:
        """Whether the job would take its queue, or one around it, above what that may have."""
        used = dict.fromkeys((each.name for each in queue.above), 0)
        for victim in victims:
            for each in self._queues[self._memory.queue_of[victim]].above:
                if each.name in used:
                    used[each.name] -= int(self._jobs.columns.held_gpus[victim])
        return any(
            self._used[each.name] + used[each.name] + need > each.most * self._total + 1e-9
            for each in queue.above
        )

    def _why_not(self, need: int, queue: Queue) -> str:
        """Why a job waits; empty where there are simply too few GPUs."""
        if self._at_limit(queue, need):
            return LIMIT
        if self._lent_out(queue, need):
            return NOT_LENT
        return NO_ROOM if int(self._free.sum()) >= need else ""

    def _part(self, queue: Queue) -> float:
        """How much of its guarantee a queue has; one without any is behind all that have one."""
        guaranteed = queue.guaranteed * self._total
        return self._used[queue.name] / guaranteed if guaranteed else 1e9 + self._used[queue.name]

    def _guaranteed(self, queue: Queue, need: int) -> bool:
        """Whether a queue, with this job, is still within its guarantee, and takes back what it is due."""
        within = self._used[queue.name] + need <= queue.guaranteed * self._total + 1e-9
        return queue.reclaim and within

    def _lent_out(self, queue: Queue, need: int) -> bool:
        """Whether a job would borrow GPUs that queues which do not lend leave unused."""
        own = max(queue.guaranteed * self._total - self._used[queue.name], 0.0)
        kept = sum(
            max(each.guaranteed * self._total - self._used[each.name], 0.0)
            for each in self._queues.values()
            if not each.lends and each is not queue and not each.children
        )
        return kept > 0 and need > own and need > int(self._free.sum()) - kept + 1e-9

    def _borrowers(self, queue: Queue) -> list[int]:
        """Running jobs that may be preempted for a queue, in order: those above the guarantee of theirs."""
        used = dict(self._used)
        jobs: dict[str, list[int]] = {}
        for row in self._room.running.tolist():
            name = self._memory.queue_of[row]
            if row not in self.leaving and name != queue.name:
                jobs.setdefault(name, []).append(row)
        c = self._jobs.columns
        for rows in jobs.values():  # the next one last
            rows.sort(key=lambda row: (-int(c.priority[row]), float(c.held_since[row]), row))
        found: list[int] = []
        while True:
            over = {
                name: used[name] - self._queues[name].guaranteed * self._total
                for name, rows in jobs.items()
                if rows and used[name] > self._queues[name].guaranteed * self._total + 1e-9
            }
            if not over:
                return found
            name = max(over, key=lambda each: (over[each], each))
            row = jobs[name].pop()
            found.append(row)
            used[name] -= int(c.held_gpus[row])

    def _count(self, row: int, sign: int) -> None:
        """Adds a job to its queue and all around it, or takes it off."""
        c = self._jobs.columns
        gpus = int(c.held_gpus[row]) or int(c.gpus[row])
        for queue in self._queues[self._memory.queue_of[row]].above:
            self._used[queue.name] += sign * gpus
