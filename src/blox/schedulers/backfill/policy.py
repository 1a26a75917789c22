from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from blox.errors import BloxError
from blox.optional import declared
from blox.protocols import Promise, SchedulingPolicy, promise_of
from blox.registry import build, check_choices, register
from blox.schedulers.backfill.conservative import conservative
from blox.schedulers.backfill.easy import easy
from blox.schedulers.backfill.room import FutureRoom, believed_ends_s
from blox.schedulers.backfill.waiting import Memory, Queue
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.state.schedule import Schedule
from blox.workloads.table import Array

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
        check_choices(self)
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
        memory = job_state.memory(self, Memory)
        rows = line.jobs.take(line.order)
        waiting = rows[job_state.columns.held_gpus.take(rows) == 0]
        behind = self.depth and len(waiting) > self.depth  # jobs that are not looked at
        if behind:
            waiting = waiting[: self.depth]
        memory.blocked, memory.blocker, memory.closed_up = NO_ROWS, -1, False
        nothing_free = self.kind == "easy" and not cluster_state.free_gpus
        if not len(waiting) or nothing_free:
            return Schedule(cluster_state.running, preempt=False)
        queue = Queue(waiting, job_state)
        room = FutureRoom(waiting, cluster_state, job_state)
        decide = easy if self.kind == "easy" else conservative
        starting = decide(queue, room, memory)
        memory.closed_up = bool(behind and starting)
        return room.schedule(starting)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Until a job should have ended, or a reservation begins: a late job changes what is believed.

        Jobs that come within `depth` when others have started are looked at next.
        """
        if job_state.memory(self, Memory).closed_up:
            return job_state.now
        until = self._promise(job_state, cluster_state)
        if job_state.active_count == cluster_state.running_count:
            return until
        ends_s = believed_ends_s(cluster_state.running, job_state)
        starts = np.array(list(job_state.memory(self, Memory).reserved.values()), dtype=np.float64)
        moments = np.concatenate((ends_s, starts))
        return min(until, float(moments[moments > job_state.now].min(initial=math.inf)))

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> list[str]:
        memory = job_state.memory(self, Memory)
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
        for row, need, length_s in Queue(small, job_state):
            if room.choose(row, need, length_s)(room.free, room.now) is not None:
                yield row
