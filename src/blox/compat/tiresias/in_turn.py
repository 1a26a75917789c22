"""The original's orders without preemption: one list of waiting jobs, in the order in which they came."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from blox.compat.tiresias.counted import Decision
from blox.protocols import for_ever
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule


@dataclass
class _Waiting:
    rows: list[int] = field(default_factory=list)
    gpus: list[int] = field(default_factory=list)
    now: float = -1.0
    seen: int = 0
    decision: Decision | None = None  # of the last instant


@dataclass(frozen=True)
class InTurn:
    """Starts waiting jobs in the order in which they came, by counting GPUs; no job is preempted.

    `passes`: `none` (`fifo`) stops at the first that does not fit, `misfits` (`fjf`) goes on behind it.
    `next` (`lpjf`) stops there too, but never looks at the one behind a job that starts.
    """

    passes: Literal["none", "misfits", "next"] = "none"

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        line = job_state.memory(self, _Waiting)
        fresh = job_state.just_admitted if line.seen else job_state.active
        if len(fresh) and fresh.item(-1) >= line.seen:
            line.rows += fresh.tolist()
            line.gpus += job_state.columns.gpus.take(fresh).tolist()
            line.seen = line.rows[-1] + 1
        elif line.now == job_state.now and line.decision is not None:
            return line.decision.schedule(job_state)
        line.now = job_state.now
        line.decision = Decision(self._starts(line, cluster_state.free_gpus), [])
        return line.decision.schedule(job_state)

    stable_until = for_ever

    def _starts(self, line: _Waiting, free: int) -> list[int]:
        """Takes the jobs that start off the line."""
        chosen: list[int] = []
        at = 0
        while free and at < len(line.rows):
            if line.gpus[at] <= free:
                free -= line.gpus[at]
                chosen.append(at)
                at += self.passes == "next"
            elif self.passes != "misfits":
                break
            at += 1
        starts = [line.rows[at] for at in chosen]
        for at in reversed(chosen):
            del line.rows[at], line.gpus[at]
        return starts


@dataclass(frozen=True)
class EveryOther:
    """`lpjf` for a placement that looks at nodes: every other waiting job, strictly in order.

    Meant is the longest-waiting first; a misspelt key makes all waits 0, and jobs are taken off the list
    while it is walked, so that the job behind one that starts is not looked at until the next event.
    """

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        running = job_state.running
        waiting = job_state.active[~running][::2]
        jobs = np.concatenate((job_state.active[running], waiting))
        return Schedule(jobs, strict=True, preempt=False)

    stable_until = for_ever
