"""Recorder: what happened, as columns. A row per round in which something changed, and every stint on GPUs.

During the run it only notes which jobs came, started, stopped and ended; what follows from that is worked out
afterwards, for all rounds at once. Why jobs wait as well: a waiting job is classed by its GPU count against
what was free and what was handed out, so the length of the queue by GPU count is enough; but for jobs about
which a policy tells why they wait (`told`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from struct import Struct

import numpy as np

from blox.failures.log import FailureLog
from blox.recording.stints import Stints, numbers, raw
from blox.recording.wait_causes import CAUSES, SCHEDULER, ToldCauses
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import Allocation, Plan
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
# What is noted in each such round; the rest follows. `submitted`: the jobs that had come by then. `began` and
# `ceased`: the length by then of the notes of jobs that began, and ceased, to wait.
_NOTED = (
    "time_s",
    "held",
    "running",
    "gpus_total",
    "gpus_used",
    "largest_free",
    "fragmentation",
    "blocked",
    "submitted",
    "began",
    "ceased",
    "launched",
    "suspended",
    "moved",
    "finished",
    "handed_out",
)
_ROW = Struct(f"{len(_NOTED)}d")
_EVENTS = _NOTED.index("launched")  # from here on, what happened in the round itself
_BYTES = 8  # of a row in notes


class Recorder:
    """Collects during a run; `rounds()`, `stints()` and `waits()` give the columns afterwards."""

    def __init__(self, round_end: Callable[[float], float] | None = None) -> None:
        """`round_end` gives the end of the round that begins at a time; None: there are no rounds."""
        self._round_end = round_end
        self._rows = bytearray()  # what is noted, packed as _ROW, round by round
        self._stints = Stints()
        self._began = bytearray()  # jobs that began to wait, as raw()
        self._ceased = bytearray()  # jobs that waited no longer
        self._gone = bytearray()  # jobs that have finished
        self._gone_before = 0  # jobs that had finished before the recording began
        self._finished = 0  # jobs that have finished since the last round that was noted
        self._submitted = self._held = 0  # when a round was last noted
        self._handed_out = 0  # GPUs given out in the round that is running
        self._handed_out_until = math.inf
        self._gpus: Array = np.empty(0, dtype=np.int64)  # that each job asks for, by row
        self._noted: dict[str, Array] | None = None
        self._end_s = 0.0
        self.shared = False  # whether jobs ever shared GPUs
        self.failures: FailureLog | None = None  # where something may fail
        self._disturbed = False  # a node has changed or a job was evicted since the last round was noted
        self.end_reasons: dict[int, str] = {}  # of jobs that ended before their work was done, by row
        self.told = ToldCauses()  # why jobs wait, where policies tell it
        self.noted_s = -math.inf  # when a round was last noted

    def resume(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Begins in the middle of a run: what was finished, waiting and running then counts from now on."""
        rows = np.arange(job_state.submitted)
        gone = rows[job_state.columns.status[: job_state.submitted] == FINISHED]
        self._gone += raw(gone)
        self._gone_before = len(gone)
        self._began += raw(job_state.active[~job_state.running])
        held = cluster_state.allocation
        if held.size:
            self._stints.start(held, job_state.now, job_state.submitted)
        self.shared = cluster_state.holdings.shared
        self._disturbed = True  # the first round is noted, whatever it changes

    def finished(self, rows: Array, at: Array | float, was_running: Array | None) -> None:
        """Jobs have finished; those in `was_running` (None: all) were on GPUs until then."""
        self._gone += raw(rows)
        self._finished += len(rows)
        if was_running is None:
            self._stints.end(rows, at)
        else:
            self._stints.end(rows[was_running], at[was_running] if isinstance(at, np.ndarray) else at)
            self._ceased += raw(rows[~was_running])

    def ended_early(self, rows: Array, reasons: Iterable[str]) -> None:
        """Jobs end before their work is done, each for its reason."""
        self.end_reasons.update(zip(rows.tolist(), reasons))

    def admitted(self, rows: Array) -> None:
        self._began += raw(rows)

    def evicted(self, rows: Array, at: float, now: float, event: NodeEvent | None) -> None:
        """Jobs lost their GPUs at `at`, on which the scheduler acts now. No event: they failed themselves."""
        self._stints.end(rows, at)
        self._began += raw(rows)
        self._disturbed = True
        if self.failures is not None:
            self.failures.evicted(rows, at, now, event)

    def node_changed(self, event: NodeEvent) -> None:
        """A node is in another state."""
        self._disturbed = True
        if self.failures is not None:
            self.failures.node_changed(event)

    def round(self, plan: Plan, cluster_state: ClusterState, job_state: JobState) -> None:
        """A plan has been carried out: a new row, if anything is different from the last one."""
        launch, move, suspend, holdings = plan.launch, plan.move, plan.suspend, cluster_state.holdings
        launched, suspended, moved = len(launch.jobs), len(suspend), len(move.jobs)
        held, submitted, finished = len(job_state.waiting), job_state.submitted, self._finished
        started = launched or moved
        if not (
            started
            or suspended
            or finished
            or submitted > self._submitted
            or held != self._held
            or self._disturbed
        ):
            return
        now, handed_out = job_state.now, 0
        if self._handed_out and now > self._handed_out_until:
            self._expire()
        if suspended:
            self._stints.end(suspend, now)
            self._began += raw(suspend)
        if started:
            handed_out = self._note_starts(launch, move, job_state)
            if holdings.shared:
                self.shared = True
        self._handed_out, self._finished, self._submitted, self._held = handed_out, 0, submitted, held
        self._disturbed = False
        self.noted_s = now
        self._gpus = job_state.columns.gpus
        total, used = cluster_state.total_gpus, holdings.used
        if cluster_state.draining:
            total += cluster_state.draining_gpus
        largest, fragmentation = total - used, 0.0
        if largest and not cluster_state.one_pool:
            largest, fragmentation = cluster_state.largest_free, cluster_state.fragmentation()
        self._rows += _ROW.pack(
            now,
            held,
            holdings.size,
            total,
            used,
            largest,
            fragmentation,
            holdings.blocked,
            submitted,
            len(self._began),
            len(self._ceased),
            launched,
            suspended,
            moved,
            finished,
            handed_out,
        )

    def _note_starts(self, launch: Allocation, move: Allocation, job_state: JobState) -> int:
        """Jobs start, some of them elsewhere; returns how many GPUs they get."""
        now = job_state.now
        if len(move.jobs):
            self._stints.end(move.jobs, now)
            self._stints.start(move, now, job_state.submitted)
        if len(launch.jobs):
            self._stints.start(launch, now, job_state.submitted)
            self._ceased += raw(launch.jobs)
        if self.failures is not None:
            self.failures.started(launch.jobs, job_state)
            self.failures.started(move.jobs, job_state)
        if self._round_end is not None:
            self._handed_out_until = self._round_end(now)
        return _handed_out(launch) + _handed_out(move)

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
        return self._stints.table(end_s)

    def gpu_seconds(self, begin_s: float, until_s: float) -> float:
        """GPU-seconds held between two times; a GPU that two jobs share counts once."""
        return self._stints.gpu_seconds(begin_s, until_s, end_s=self._end_s, shared=self.shared)

    def waits(self) -> dict[str, float]:
        """Seconds that jobs have waited in all, by cause; see counted_cause() and `told`."""
        table = self._table()
        elapsed = np.diff(np.append(table["time_s"], max(self._end_s, table["time_s"][-1:].max(initial=0.0))))
        blocked = table["blocked"] == 1
        jobs = {
            "admission": table["held"],
            "priority": table["passed_over"] + np.where(blocked, table["fitting"], 0),
            "capacity": table["queued"] - table["left_out"] - table["fitting"] - table["passed_over"],
            "fragmentation": np.where(blocked, 0, table["fitting"]),
            SCHEDULER: table["left_out"],
        }
        causes = (*CAUSES, SCHEDULER) if table["left_out"].any() else CAUSES
        return {cause: float((jobs[cause] * elapsed).sum()) for cause in causes}

    def _table(self) -> dict[str, Array]:
        """Everything about every round that was noted."""
        if self._noted is None:
            table = np.frombuffer(self._rows).reshape(-1, len(_NOTED))
            self._noted = {name: table[:, i] for i, name in enumerate(_NOTED)}
            self._noted["free_gpus"] = self._noted["gpus_total"] - self._noted["gpus_used"]
            self._noted["gpus_demanded"] = self._demand(self._noted)
            self._noted.update(self._queue(self._noted))
        return self._noted

    def _demand(self, noted: dict[str, Array]) -> Array:
        """GPUs that the jobs ask for which have been submitted and have not finished, by round."""
        gone = numbers(self._gone)
        submitted, done = (_sums(gpus) for gpus in (self._gpus, self._gpus[gone]))
        finished = self._gone_before + noted["finished"].cumsum()
        return submitted[noted["submitted"].astype(np.int64)] - done[finished.astype(np.int64)]

    def _queue(self, noted: dict[str, Array]) -> dict[str, Array]:
        """By round: the jobs that wait; those left out by the scheduler although enough was free; the others
        for which enough was free; and those for which enough was handed out to others."""
        free, given = noted["free_gpus"], noted["handed_out"]
        queued, by_scheduler, fitting, passed_over = np.zeros((4, len(free)))
        told = self._told_by_gpus(noted["time_s"])
        began, ceased = (
            self._by_gpus(log, noted[name])
            for log, name in ((self._began, "began"), (self._ceased, "ceased"))
        )
        for asked in began:
            waiting = began[asked] - ceased.get(asked, 0)
            queued += waiting
            left_out = np.where(asked <= free, told.get(asked, 0), 0)
            by_scheduler += left_out
            fitting += np.where(asked <= free, waiting, 0) - left_out
            passed_over += np.where((free < asked) & (asked <= free + given), waiting, 0)
        return {"queued": queued, "left_out": by_scheduler, "fitting": fitting, "passed_over": passed_over}

    def _told_by_gpus(self, time_s: Array) -> dict[int, Array]:
        """GPUs asked for -> how many waiting jobs that ask for so many the scheduler speaks of, by round."""
        waits = self.told.of_part("scheduling")
        gpus = self._gpus.take(waits["job"])
        first = time_s.searchsorted(waits["start_s"], side="right") - 1  # told in the round noted then
        last = np.where(waits["end_s"] < math.inf, time_s.searchsorted(waits["end_s"], side="right") - 1, -1)
        found = {}
        for asked in np.unique(gpus).tolist():
            begun = np.bincount(first[gpus == asked], minlength=len(time_s))
            ended = np.bincount(last[(gpus == asked) & (last >= 0)], minlength=len(time_s))
            found[asked] = (begun - ended).cumsum()
        return found

    def _by_gpus(self, notes: bytearray, noted: Array) -> dict[int, Array]:
        """GPUs asked for -> how many jobs that ask for so many there were in the notes by each round.

        `noted`: how long the notes were in each round.
        """
        jobs = noted.astype(np.int64) // _BYTES
        kinds = self._gpus[: self._submitted]
        if len(kinds) and (kinds == kinds[0]).all():
            return {int(kinds[0]): jobs}
        rounds = np.repeat(np.arange(len(jobs)), np.diff(jobs, prepend=0))  # in which each was noted
        gpus = self._gpus.take(numbers(notes)[: len(rounds)])
        found = {}
        for asked in np.bincount(gpus).nonzero()[0].tolist():
            found[asked] = np.bincount(rounds[gpus == asked], minlength=len(jobs)).cumsum()
        return found

    def _expire(self) -> None:
        """What was handed out in one round is no reason to wait in the next: the cluster is just full."""
        self._handed_out = 0
        last = _ROW.unpack_from(self._rows, len(self._rows) - _ROW.size)
        self._rows += _ROW.pack(self._handed_out_until, *last[1:_EVENTS], 0, 0, 0, 0, 0)


def _handed_out(part: Allocation) -> int:
    """GPUs of jobs that start; where jobs get shares of GPUs, each GPU once."""
    return len(part.gpus) if part.share_milli is None else len(np.unique(part.gpus))


def _sums(numbers: Array) -> Array:
    """The sums of the first 0, 1, 2, ... numbers."""
    return np.concatenate(([0], np.cumsum(numbers)))
