"""FailureLog: what failed in a run, which jobs lost their GPUs, and when each stint began to work.

It only notes; the figures are worked out afterwards (`results/failures.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.workloads.table import Array


class Eviction(NamedTuple):
    """A job lost its GPUs at `time_s`, on which the scheduler acted at `seen_s`.

    `node`: the one that went down; -1: the job failed by itself. `announced`: nothing was lost.
    """

    job: int
    time_s: float
    seen_s: float
    node: int
    announced: bool

    @property
    def cause(self) -> str:
        """Why: its node failed, its node was drained, or the job failed by itself."""
        return "job" if self.node < 0 else "drain" if self.announced else "failure"


class FailureLog:
    """Collects during a run."""

    def __init__(self) -> None:
        self.node_events: list[NodeEvent] = []
        self.evictions: list[Eviction] = []
        self._starts: list[tuple[float, Array, Array]] = []  # time, rows, when each begins to work

    def node_changed(self, event: NodeEvent) -> None:
        self.node_events.append(event)

    def evicted(self, rows: Array, at: float, seen_s: float, event: NodeEvent | None) -> None:
        node, announced = (-1, False) if event is None else (event.node, event.announced)
        self.evictions += [Eviction(row, at, seen_s, node, announced) for row in rows.tolist()]

    def started(self, rows: Array, job_state: JobState) -> None:
        """Jobs have begun a stint now; they work from their anchor on."""
        self._starts.append((job_state.now, rows, job_state.columns.anchor.take(rows)))

    def begins(self) -> tuple[Array, Array, Array]:
        """Of every stint: the job, its start, and when it began to work (s); by job and start."""
        empty = np.empty(0)
        job = np.concatenate([empty.astype(np.int64), *(rows for _, rows, _ in self._starts)])
        start = np.concatenate([empty, *(np.full(len(rows), time_s) for time_s, rows, _ in self._starts)])
        begin = np.concatenate([empty, *(begins for *_, begins in self._starts)])
        order = np.lexsort((start, job))
        return job[order], start[order], begin[order]
