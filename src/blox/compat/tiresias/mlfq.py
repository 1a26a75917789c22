from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from blox.compat.tiresias.counted import Decision, decided
from blox.compat.tiresias.lane import NEVER
from blox.compat.tiresias.queues import Queues
from blox.compat.tiresias.tables import index_table
from blox.errors import BloxError
from blox.schedulers.gittins import GittinsIndex, read_samples
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array


def counts(found: Iterable[Queues], hidden: list[int], job_state: JobState) -> dict[str, Array]:
    """Promotions and preemptions of every submitted job; `hidden`: rows that were preempted for no time."""
    promotions = np.zeros(job_state.submitted, dtype=np.int64)
    for queues in found:
        for row, count in queues.promotions.items():
            promotions[row] = count
    preemptions = job_state.columns.preemptions[: job_state.submitted].copy()
    np.add.at(preemptions, hidden, 1)
    return {"promotions": promotions, "preemptions": preemptions}


def _endless(limits: tuple[int, ...]) -> BloxError:
    return BloxError(
        f"with the queue limits {'+'.join(map(str, limits))} the original wakes at one instant for ever",
        where="compat tiresias",
        fix="give limits that are not below the GPUs of any job, or late_demotion=false",
    )


@dataclass
class State:
    """The queues, and what was decided last."""

    queues: Queues
    now: int = -1
    jump: int = NEVER
    decision: Decision | None = None  # of the last instant
    hidden: list[int] = field(default_factory=list)  # rows preempted for no time, once for each time


@dataclass(frozen=True)
class Mlfq:
    """The original's `dlas` family: queues by attained service, counting GPUs only.

    `limits`: service at which a job leaves each queue but the last. `promote`: a job that has waited so many
    times what it has executed goes back to the first queue; 0: never. `index`: `simulator` sorts queues by
    the original's Gittins index of `distribution`, `textbook` by the true one; "": no index.
    `late_demotion` and `running_first`: see `Queues`.
    """

    limits: tuple[int, ...] = (3250, 7200)
    by: Literal["time", "gpu-time"] = "gpu-time"
    promote: float = 0.0
    index: Literal["", "simulator", "textbook"] = ""
    distribution: str = "yarn-gput1000.csv"
    late_demotion: bool = True
    running_first: bool = True

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        state = job_state.memory(self, self._state)
        queues, now = state.queues, int(job_state.now)
        changed = self._take_in(queues, job_state)
        if not changed and now == state.now and state.decision is not None:
            return state.decision.schedule(job_state)
        queues.move(now)
        starts, stops = queues.serve(cluster_state.total_gpus, now)
        jump = queues.next_jump(now)
        while jump <= now:  # the original wakes again at once
            if not queues.move(now):
                raise _endless(self.limits)
            again = queues.serve(cluster_state.total_gpus, now)
            starts, stops = starts + again[0], stops + again[1]
            jump = queues.next_jump(now)
        state.now, state.jump = now, jump
        state.decision, hidden = decided(starts, stops)
        state.hidden += hidden
        return state.decision.schedule(job_state)

    def _take_in(self, queues: Queues, job_state: JobState) -> bool:
        """Removes ended jobs and adds new ones; whether there are any."""
        known, changed = queues.jobs, False
        if len(job_state.just_finished):
            for row in job_state.just_finished.tolist():
                if row in known:
                    queues.remove(row)
                    changed = True
        if len(job_state.just_admitted):
            for row in job_state.just_admitted.tolist():
                if row not in known:
                    queues.arrive(row, job_state.columns.gpus.item(row), int(job_state.now))
                    changed = True
        return changed

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        jump = job_state.memory(self, self._state).jump
        return math.inf if jump == NEVER else float(jump)

    def job_columns(self, job_state: JobState) -> dict[str, Array]:
        """Promotions, and preemptions with those that lasted for no time."""
        state = job_state.memory(self, self._state)
        return counts([state.queues], state.hidden, job_state)

    def _state(self) -> State:
        index: Callable[[int], float] | None = None
        if self.index == "simulator":
            index = index_table(self.distribution)
        elif self.index == "textbook":
            textbook = GittinsIndex(read_samples(self.distribution))
            index = lambda service: float(textbook(np.array([service]))[0])  # noqa: E731
        return State(
            Queues(
                list(self.limits),
                by_gpu=self.by == "gpu-time",
                late=self.late_demotion,
                promote=self.promote,
                running_first=self.running_first,
                index=index,
            )
        )
