from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from blox.errors import BloxError
from blox.optional import declared
from blox.protocols import Promise, SchedulingPolicy, promise_of
from blox.registry import build, register
from blox.schedulers.backfill.profile import Profile, Shares, less
from blox.schedulers.backfill.room import FutureRoom, believed_ends_s
from blox.state.believed import believed_s
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.state.schedule import Schedule
from blox.workloads.table import Array

SHORTEST_S = 1e-3  # a job that should have ended already is taken to need so long
RESERVED = "the GPUs that it needs are reserved for it from the time at which they are believed to be free"
DELAYS = "starting it would delay {}, for which GPUs are reserved"


@register.scheduling(
    "backfill",
    elsewhere={
        "easy": "backfill:kind=easy",
        "conservative": "backfill:kind=conservative",
        "slurm": "backfill:order=multifactor",
    },
)
@dataclass(frozen=True)
class Backfill:
    """Runs jobs in the order of another policy, and lets later ones pass where they delay no reservation.

    A job that does not fit gets a reservation: the earliest time at which it is believed to fit, where the
    placement would put it. `kind=easy` (Lifka, JSSPP'95): the first job in line that does not fit has one. It
    is never started later for the sake of another, but those behind it may be. `kind=conservative`
    (Mu'alem and Feitelson, TPDS'01): every job has one from its arrival on; it keeps it, and moves up in the
    order of the line when a job ends before its time. `order` is the other policy's spec with `;` for `,`:
    `backfill:order=multifactor:age=1000;fairshare=10000`. Only its order counts: running jobs are never
    displaced. `depth`: only so many waiting jobs are looked at, as with Slurm's bf_max_job_test; 0: all.

    Times are what is believed (`--belief limit`: the time limits that users asked for); a job of which
    nothing is believed is taken to last a week. A job that runs
    longer than believed goes on, and what it holds is believed to come free at any moment; `--termination
    time-limit` ends it. A placement that does not tell its rule for nodes (`node_rule`) is taken to need a
    number of GPUs and nothing else, so that a reservation may find too few together. Departs from Slurm's
    plugin, which looks a day ahead and works in steps of a minute: here times are exact, and without end.
    """

    kind: Literal["easy", "conservative"] = "easy"
    order: str = "fifo"
    depth: int = 0

    reads_durations: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.kind not in ("easy", "conservative"):
            raise BloxError(f"kind is {self.kind!r}", fix="kind must be easy or conservative")
        if self.depth < 0:
            raise BloxError(f"depth is {self.depth}", fix="depth must be 0 (all jobs) or more")
        if declared(self.wraps, "resizes"):
            raise BloxError(
                f"{self.order} resizes jobs", fix="give an order of jobs that keep their size: order=fifo"
            )

    @cached_property
    def wraps(self) -> SchedulingPolicy:
        policy: SchedulingPolicy = build("scheduling", self.order.replace(";", ","))
        return policy

    @cached_property
    def _promise(self) -> Promise:
        return promise_of(self.wraps)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        line = self.wraps.schedule(job_state, cluster_state)
        memory = job_state.memory(self, _Memory)
        rows = line.jobs.take(line.order)
        waiting = rows[job_state.columns.held_gpus.take(rows) == 0]
        if self.depth:
            waiting = waiting[: self.depth]
        memory.blocked, memory.blocker = NO_ROWS, -1
        nothing_free = self.kind == "easy" and not cluster_state.free_gpus
        if not len(waiting) or nothing_free:
            return Schedule(cluster_state.running, preempt=False)
        queue = _Queue(waiting, job_state)
        room = FutureRoom(waiting, cluster_state, job_state)
        starting = _easy(queue, room, memory) if self.kind == "easy" else _keep(queue, room, memory)
        memory.running = np.union1d(room.running, np.fromiter(starting, dtype=np.int64, count=len(starting)))
        return room.schedule(starting)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Until a job should have ended, or a reservation begins: a late job changes what is believed."""
        until = self._promise(job_state, cluster_state)
        if job_state.active_count == cluster_state.running_count:
            return until
        ends_s = believed_ends_s(cluster_state.running, job_state)
        starts = np.array(list(job_state.memory(self, _Memory).reserved.values()), dtype=np.float64)
        moments = np.concatenate((ends_s, starts))
        return min(until, float(moments[moments > job_state.now].min(initial=math.inf)))

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> list[str]:
        memory = job_state.memory(self, _Memory)
        if memory.blocker < 0:
            return [""] * len(rows)
        words = DELAYS.format(f"job {job_state.columns.job_id[memory.blocker]}")
        held = set(_that_fit(rows[np.isin(rows, memory.blocked)], job_state, cluster_state))
        return [RESERVED if row == memory.blocker else words if row in held else "" for row in rows.tolist()]


def _that_fit(rows: Array, job_state: JobState, cluster_state: ClusterState) -> Iterator[int]:
    """The rows that have a place now: nothing but a reservation holds them back."""
    small = rows[job_state.columns.gpus.take(rows) <= cluster_state.free_gpus]
    if len(small):
        room = FutureRoom(small, cluster_state, job_state)
        for row, need, length_s in _Queue(small, job_state):
            if room.choose(row, need, length_s)(room.free, room.now) is not None:
                yield row


@dataclass
class _Memory:
    blocker: int = -1  # the job that holds the reservation; -1: none
    blocked: Array = field(default_factory=lambda: NO_ROWS)  # the jobs behind it
    running: Array = field(default_factory=lambda: NO_ROWS)  # after the last decision
    promised: dict[int, tuple[float, Shares]] = field(default_factory=dict)  # conservative: start and place
    head_s: float = math.nan  # EASY: when the blocker is believed to start

    @property
    def reserved(self) -> dict[int, float]:
        """Waiting row -> the time for which GPUs are reserved for it."""
        found = {row: begin for row, (begin, _) in self.promised.items()}
        return found or ({} if self.blocker < 0 else {self.blocker: self.head_s})


class _Queue:
    """Waiting rows in order, with the GPUs that each needs and the time that it is believed to take (s)."""

    def __init__(self, rows: Array, job_state: JobState) -> None:
        c = job_state.columns
        self.rows, self.need = rows, c.gpus.take(rows)
        self.length_s: Array = np.maximum(believed_s(job_state, rows) - c.done0.take(rows), SHORTEST_S)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return zip(self.rows.tolist(), self.need.tolist(), self.length_s.tolist())


def _easy(queue: _Queue, room: FutureRoom, memory: _Memory) -> dict[int, Shares]:
    """The jobs that start: in order to the first that does not fit, then those that do not delay it."""
    starting, lengths, free = dict[int, Shares](), list[float](), room.free
    for at, (row, need, length_s) in enumerate(queue):
        choose = room.choose(row, need, length_s)
        shares = choose(free, room.now)
        if shares is not None:
            starting[row], free = shares, less(free, shares)
            lengths.append(length_s)
            continue
        profile = room.profile(list(zip(lengths, starting.values())))
        found = profile.earliest(need, length_s, choose, profile.now)
        if found is not None:  # otherwise it needs more GPUs than are up at present
            memory.blocker, memory.blocked, memory.head_s = row, queue.rows[at + 1 :], found[0]
            return starting | _fill(queue, at, room, profile, *found)
    return starting


def _fill(
    queue: _Queue, head: int, room: FutureRoom, profile: Profile, shadow_s: float, shares: Shares
) -> dict[int, Shares]:
    """Jobs behind the one at `head` that fit now, and leave it a place at its time, this or another."""
    starting: dict[int, Shares] = {}
    free, then = profile.free[0], profile.at(shadow_s)  # by unit, now and when the head starts
    for_head = room.choose(int(queue.rows[head]), int(queue.need[head]), float(queue.length_s[head]))
    left, spare = int(free.sum()), int(then.sum() - queue.need[head])
    rows, need = queue.rows[head + 1 :], queue.need[head + 1 :]
    in_time = profile.now + queue.length_s[head + 1 :] <= shadow_s
    for at in ((need <= left) & (in_time | (need <= spare))).nonzero()[0].tolist():
        gpus, ends = int(need[at]), bool(in_time[at])
        if gpus > left or (not ends and gpus > spare):
            continue
        choose = room.choose(int(rows[at]), gpus, float(queue.length_s[head + 1 + at]))
        found = choose(free, profile.now)
        if found is not None and not ends:
            elsewhere = for_head(less(then, found), shadow_s)
            if elsewhere is None:
                found = choose(np.minimum(free, less(then, shares)), profile.now)
            else:
                shares = elsewhere
        if found is not None:
            starting[int(rows[at])] = found
            free, left = less(free, found), left - gpus
            if not ends:
                then, spare = less(then, found), spare - gpus
    return starting


def _keep(queue: _Queue, room: FutureRoom, memory: _Memory) -> dict[int, Shares]:
    """The jobs whose reservation begins now; every other keeps its own, or an earlier one."""
    profile, promised = room.profile(), dict[int, tuple[float, Shares]]()
    of_row = {row: (need, length_s) for row, need, length_s in queue}
    known = [(begin, row) for row, (begin, _) in memory.promised.items() if row in of_row]
    for begin, row in sorted(known):
        need, length_s = of_row[row]
        shares = memory.promised[row][1]
        again = profile.fits(max(begin, profile.now), length_s, lambda free, _, s=shares: _still(free, s))  # type: ignore[misc]
        if again is None:
            found = profile.earliest(
                need, length_s, room.choose(row, need, length_s), max(begin, profile.now)
            )
            if found is None:
                continue
            begin, shares = found
        promised[row] = max(begin, profile.now), shares
        profile.take(*_span(promised[row], length_s))
    moves_up = bool(len(np.setdiff1d(memory.running, room.running)))  # a job has ended, or lost its GPUs
    for row, need, length_s in queue:
        if row in promised:
            if not moves_up:
                continue
            profile.take(*_span(promised[row], length_s), sign=-1)
        found = profile.earliest(need, length_s, room.choose(row, need, length_s), profile.now)
        if found is None:
            promised.pop(row, None)
            continue
        promised[row] = found
        profile.take(*_span(found, length_s))
    starting = {row: shares for row, (begin, shares) in promised.items() if begin <= profile.now}
    memory.promised = {row: kept for row, kept in promised.items() if row not in starting}
    if memory.promised:
        memory.blocker = next(row for row, *_ in queue if row in memory.promised)
        memory.blocked = np.fromiter(memory.promised, dtype=np.int64)
    return {row: starting[row] for row, *_ in queue if row in starting}


def _span(promise: tuple[float, Shares], length_s: float) -> tuple[float, float, Shares]:
    return promise[0], length_s, promise[1]


def _still(free: Array, shares: Shares) -> Shares | None:
    return shares if all(free[unit] >= count for unit, count in shares) else None
