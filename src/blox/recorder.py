"""Recorder: what happened, as columns. A row per round in which something changed, and every stint on GPUs.

Why jobs wait is accounted for here as well, for all of them at once: a waiting job is classed by its GPU
count against what was free and what was handed out, so a histogram of the queue by GPU count is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from blox.cluster_state import ClusterState
from blox.job_state import JobState
from blox.plan import Plan
from blox.workloads.table import Array

ROUND_COLUMNS = (
    "time_s",
    "held",
    "queued",
    "running",
    "gpus_total",
    "gpus_used",
    "gpus_demanded",
    "free_gpus",
    "largest_free",
    "fragmentation",
    "launched",
    "suspended",
    "moved",
    "finished",
    "handed_out",
    "blocked",
)
# For the account of waiting, not kept: queued jobs for which enough GPUs were free; were given to others.
_HIDDEN = ("fitting", "passed_over")
_EVENTS = ROUND_COLUMNS.index("launched")  # from here on, five counts of what happened in the round itself
CAUSES = ("admission", "priority", "capacity", "fragmentation")


class Recorder:
    """Collects during a run; `rounds()`, `stints()` and `waits()` give the columns afterwards."""

    def __init__(self, round_end: Callable[[float], float] = lambda now: math.inf) -> None:
        """`round_end` gives the end of the round that begins at a time; inf where there are no rounds."""
        self._round_end = round_end
        self._rows: list[tuple[Any, ...]] = []
        self._starts: list[tuple[float, Array, Array, Array]] = []  # time, rows, GPU counts, GPU ids
        self._ends: list[tuple[Array | float, Array]] = []  # times, rows
        self._queue: list[int] = [0] * 64  # queued jobs by GPUs asked for
        self._queued = 0
        self._seen = 0  # rows of JobState whose demand is counted
        self._demanded = 0
        self._finished = 0
        self._handed_out = 0  # GPUs given out in the round that is running
        self._handed_out_until = math.inf
        self._held = 0
        self._end_s = 0.0
        self.shared = False  # whether jobs ever shared GPUs

    def finished(
        self, rows: Array, at: Array | float, job_state: JobState, was_running: Array | None
    ) -> None:
        """Jobs have finished; those in `was_running` (None: all) were on GPUs until then."""
        self._finished += len(rows)
        self._demanded -= len(rows) if job_state.single_gpu else sum(job_state.columns.gpus[rows].tolist())
        if was_running is None:
            self._ends.append((at, rows))
        else:
            self._ends.append((at[was_running] if isinstance(at, np.ndarray) else at, rows[was_running]))
            self._queue_up(rows[~was_running], -1, job_state)

    def admitted(self, rows: Array, job_state: JobState) -> None:
        self._queue_up(rows, 1, job_state)

    def evicted(self, rows: Array, job_state: JobState) -> None:
        """Jobs lost their node."""
        self._ends.append((job_state.now, rows))
        self._queue_up(rows, 1, job_state)

    def round(self, plan: Plan, cluster_state: ClusterState, job_state: JobState) -> None:
        """A plan has been carried out: a new row, if anything is different from the last one."""
        launched, suspended, moved = len(plan.launch.jobs), len(plan.suspend), len(plan.move.jobs)
        held = len(job_state.waiting)
        fresh = job_state.submitted != self._seen
        if not (launched or suspended or moved or fresh or self._finished or held != self._held):
            return
        columns, now = job_state.columns, job_state.now
        self.shared = self.shared or plan.wanted.share_group is not None
        if self._handed_out and now > self._handed_out_until:
            self._expire()
        if fresh:
            fresh_gpus = columns.gpus[self._seen : job_state.submitted]
            self._demanded += len(fresh_gpus) if job_state.single_gpu else sum(fresh_gpus.tolist())
            self._seen = job_state.submitted
        if suspended:
            self._ends.append((now, plan.suspend))
            self._queue_up(plan.suspend, 1, job_state)
        if moved:
            self._ends.append((now, plan.move.jobs))
            self._starts.append((now, plan.move.jobs, plan.move.counts, plan.move.gpus))
        if launched:
            self._starts.append((now, plan.launch.jobs, plan.launch.counts, plan.launch.gpus))
            self._queue_up(plan.launch.jobs, -1, job_state)
        self._handed_out = handed_out = plan.launch.used + plan.move.used
        if handed_out:
            self._handed_out_until = self._round_end(now)
        self._held = held
        free = cluster_state.free_gpus
        self._rows.append(
            (
                now,
                held,
                self._queued,
                len(plan.wanted.jobs),
                cluster_state.total_gpus,
                plan.wanted.used,
                self._demanded,
                free,
                cluster_state.largest_free if free else 0,
                cluster_state.fragmentation() if free else 0.0,
                launched,
                suspended,
                moved,
                self._finished,
                handed_out,
                plan.wanted.blocked,
                sum(self._queue[: free + 1]) if free else 0,
                sum(self._queue[free + 1 : free + handed_out + 1]) if handed_out and self._queued else 0,
            )
        )
        self._finished = 0

    def close(self, end_s: float) -> None:
        """The run is over."""
        if self._handed_out and end_s > self._handed_out_until:
            self._expire()
        self._end_s = end_s

    def rounds(self) -> dict[str, Array]:
        table = self._table()
        exact = ("time_s", "fragmentation")
        return {
            name: table[name] if name in exact else table[name].astype(np.int64) for name in ROUND_COLUMNS
        }

    def stints(self, end_s: float) -> dict[str, Array]:
        """One row per job, GPU and uninterrupted time on it; unfinished ones end with the run."""
        if not self._starts:
            empty = np.empty(0, dtype=np.int64)
            return {"job": empty, "gpu": empty, "start_s": np.empty(0), "end_s": np.empty(0)}
        job = np.concatenate([rows for _, rows, _, _ in self._starts])
        start = np.repeat([t for t, *_ in self._starts], [len(rows) for _, rows, _, _ in self._starts])
        counts = np.concatenate([c for _, _, c, _ in self._starts])
        gpu = np.concatenate([g for *_, g in self._starts])
        ended_job = np.concatenate([rows for _, rows in self._ends] or [np.empty(0, dtype=np.int64)])
        ended = np.concatenate(
            [np.broadcast_to(np.asarray(t, dtype=np.float64), len(rows)) for t, rows in self._ends]
            or [np.empty(0)]
        )
        # A job's k-th end closes its k-th start: sort both by job, stably, and pair them up.
        by_start, by_end = np.argsort(job, kind="stable"), np.argsort(ended_job, kind="stable")
        sorted_job, sorted_end = job[by_start], ended_job[by_end]
        nth = np.arange(len(job)) - np.searchsorted(sorted_job, sorted_job)
        where = np.searchsorted(sorted_end, sorted_job) + nth
        closed = where < np.searchsorted(sorted_end, sorted_job, side="right")
        end = np.full(len(job), end_s)
        end[by_start[closed]] = ended[by_end][where[closed]]
        return {
            "job": np.repeat(job, counts),
            "gpu": gpu,
            "start_s": np.repeat(start, counts),
            "end_s": np.repeat(end, counts),
        }

    def busy_gpu_s(self, end_s: float) -> float:
        """GPU-seconds in which somebody was on a GPU; two jobs that share one count once."""
        stints = self.stints(end_s)
        order = np.lexsort((stints["start_s"], stints["gpu"]))
        gpu, start, end = (stints[name][order] for name in ("gpu", "start_s", "end_s"))
        busy, last, until = 0.0, -1, 0.0
        for on, begin, stop in zip(gpu.tolist(), start.tolist(), end.tolist()):
            if on != last:
                last, until = on, begin
            busy += max(0.0, stop - max(begin, until))
            until = max(until, stop)
        return busy

    def waits(self) -> dict[str, float]:
        """Seconds that jobs have waited in all, by cause; see wait_cause()."""
        table = self._table()
        elapsed = np.diff(np.append(table["time_s"], max(self._end_s, table["time_s"][-1:].max(initial=0.0))))
        blocked = table["blocked"] == 1
        jobs = {
            "admission": table["held"],
            "priority": table["passed_over"] + np.where(blocked, table["fitting"], 0),
            "capacity": table["queued"] - table["fitting"] - table["passed_over"],
            "fragmentation": np.where(blocked, 0, table["fitting"]),
        }
        return {cause: float((jobs[cause] * elapsed).sum()) for cause in CAUSES}

    def _table(self) -> dict[str, Array]:
        names = ROUND_COLUMNS + _HIDDEN
        table = np.array(self._rows, dtype=np.float64).reshape(len(self._rows), len(names))
        return {name: table[:, i] for i, name in enumerate(names)}

    def _queue_up(self, rows: Array, sign: int, job_state: JobState) -> None:
        """These jobs begin to wait (`sign` 1) or wait no longer (-1)."""
        self._queued += sign * len(rows)
        if job_state.single_gpu:
            self._queue[1] += sign * len(rows)
            return
        gpus = job_state.columns.gpus.take(rows)
        if len(gpus) <= 16:
            counts = [(gpus_asked, 1) for gpus_asked in gpus.tolist()]
        else:
            counts = list(enumerate(np.bincount(gpus).tolist()))
        for asked, count in counts:
            if asked >= len(self._queue):
                self._queue += [0] * (asked + 1 - len(self._queue))
            self._queue[asked] += sign * count

    def _expire(self) -> None:
        """What was handed out in one round is no reason to wait in the next: the cluster is just full."""
        self._handed_out = 0
        last = self._rows[-1]
        self._rows.append(
            (self._handed_out_until, *last[1:_EVENTS], 0, 0, 0, 0, 0, *last[_EVENTS + 5 : -1], 0)
        )


def wait_cause(gpus: int, free: Array, handed_out: Array, blocked: Array) -> Array:
    """Why an admitted job of `gpus` GPUs waited, per round: an index into CAUSES.

    fragmentation: enough GPUs were free, but not where the placement could use them. priority: enough
    were free or handed out in that very round, to jobs ahead of it. capacity: not enough came free.
    """
    room = gpus <= free
    passed_over = gpus <= free + handed_out
    return np.where(room & (blocked == 0), 3, np.where(passed_over, 1, 2))
