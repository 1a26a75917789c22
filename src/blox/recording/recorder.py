"""Recorder: what happened, as columns. A row per round in which something changed, and every stint on GPUs.

During the run it only notes which jobs were admitted, started, stopped and ended; everything else is computed
afterwards, for all rounds at once. So are the causes of waiting: a waiting job is classed by its GPU count
against the GPUs that were free and those that were handed out, so the length of the queue by GPU count is
enough. If the scheduling policy left the job out while enough GPUs were free (`told`), that cause takes
precedence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import pairwise
from struct import Struct

import numpy as np

from blox.failures.log import FailureLog
from blox.recording.journal import Happened, Journal, Kind
from blox.recording.stints import Stints
from blox.recording.wait_causes import CAUSES, COUNTED, SCHEDULER, ToldCauses, counted_cause
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import Allocation, Plan
from blox.workloads.table import Array

ROUND_COLUMNS = (
    *("time_s", "held", "queued", "running"),
    *("gpus_total", "gpus_used", "gpus_demanded", "free_gpus", "largest_free", "fragmentation"),
    *("launched", "suspended", "moved", "finished", "handed_out", "blocked"),
)
# The columns that are stored in each such round; the rest is computed from them and the journal. `noted`: the
# length of the journal by then.
_NOTED = (
    *("time_s", "gpus_total", "gpus_used", "largest_free", "fragmentation"),
    *("blocked", "submitted", "noted"),
)
_ROW = Struct(f"{len(_NOTED)}d")


class Recorder:
    """Collects during a run; `rounds()`, `stints()` and `waits()` return the columns afterwards."""

    def __init__(self, round_end: Callable[[float], float] | None = None) -> None:
        """`round_end`: start of a round -> its end; None: there are no rounds."""
        self._round_end = round_end
        self._rows = bytearray()  # the stored columns, packed as _ROW, round by round
        self._journal = Journal()
        # The length of the journal and the number of submitted jobs in the last noted round; None: the next
        # round is noted, whatever it changes.
        self._last: tuple[int, int] | None = (0, 0)
        self._gpus: Array = np.empty(0, dtype=np.int64)  # by row: GPUs that the job asks for
        self._end_s = 0.0
        self.shared = False  # whether jobs ever shared GPUs
        self.failures: FailureLog | None = None  # None: nothing can fail
        self.end_reasons: dict[int, str] = {}  # by row, of jobs that ended before their work was done
        self.told = ToldCauses()  # why jobs wait, according to policies
        self.noted_s = -math.inf  # when a round was last noted

    def resume(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Begins recording in the middle of a run, with the jobs that have finished, wait or run by now."""
        now, note, status = job_state.now, self._journal.note, job_state.columns.status
        note(Kind.GONE_BEFORE, (status[: job_state.submitted] == FINISHED).nonzero()[0], now)
        waiting = job_state.active[~job_state.running]  # the first round notes those just admitted
        note(Kind.ADMIT, waiting[~np.isin(waiting, job_state.just_admitted)], now)
        if cluster_state.running_count:
            self._journal.start(Kind.RUNNING_BEFORE, cluster_state.allocation, now)
        self.shared = cluster_state.holdings.shared
        self._last = None

    def finished(self, rows: Array, at: Array | float, was_running: Array | None) -> None:
        """Records that jobs finished; those in the mask `was_running` (None: all) held GPUs until then."""
        if was_running is None:
            self._journal.note(Kind.FINISH, rows, at)
            return
        at = np.broadcast_to(at, len(rows))
        self._journal.note(Kind.FINISH, rows[was_running], at[was_running])
        self._journal.note(Kind.END_WAITING, rows[~was_running], at[~was_running])

    def ended_early(self, rows: Array, reasons: Iterable[str]) -> None:
        """Records why jobs end before their work is done."""
        self.end_reasons.update(zip(rows.tolist(), reasons))

    def admitted(self, rows: Array, now: float) -> None:
        """Records that jobs begin to wait for their first GPUs."""
        self._journal.note(Kind.ADMIT, rows, now)

    def evicted(self, rows: Array, at: float, now: float, event: NodeEvent | None) -> None:
        """Records that jobs lost their GPUs at `at`; the scheduler reacts at `now`. No event: they failed."""
        self._journal.note(Kind.EVICT, rows, at)
        if self.failures is not None:
            self.failures.evicted(rows, at, now, event)

    def node_changed(self, event: NodeEvent) -> None:
        """Records that the state of a node changed."""
        self._last = None
        if self.failures is not None:
            self.failures.node_changed(event)

    def changed(self, plan: Plan, cluster_state: ClusterState, job_state: JobState) -> None:
        """Records the jobs that a plan, now carried out, stops and starts."""
        now, journal = job_state.now, self._journal
        if len(plan.suspend):
            journal.note(Kind.SUSPEND, plan.suspend, now)
        if len(plan.move.jobs):
            journal.note(Kind.DEPART, plan.move.jobs, now)
            self._started(Kind.ARRIVE, plan.move, job_state)
        if len(plan.launch.jobs):
            self._started(Kind.LAUNCH, plan.launch, job_state)
        self.shared = self.shared or cluster_state.holdings.shared

    def _started(self, kind: int, part: Allocation, job_state: JobState) -> None:
        """Records the start of stints."""
        self._journal.start(kind, part, job_state.now)
        if self.failures is not None:
            self.failures.started(part.jobs, job_state)

    def round(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Adds a row for a round, now carried out, if anything changed since the last row."""
        present = noted, submitted = self._journal.size, job_state.submitted
        if present == self._last:
            return
        now, holdings = job_state.now, cluster_state.holdings
        self._last, self.noted_s, self._gpus = present, now, job_state.columns.gpus
        total, used = cluster_state.total_gpus, holdings.used
        if cluster_state.draining:
            total += cluster_state.draining_gpus
        largest, fragmentation = total - used, 0.0
        if largest and not cluster_state.one_pool:
            largest, fragmentation = cluster_state.largest_free, cluster_state.fragmentation()
        self._rows += _ROW.pack(now, total, used, largest, fragmentation, holdings.blocked, submitted, noted)

    def close(self, end_s: float) -> None:
        """Ends the recording at `end_s`, the end of the run."""
        self._end_s = end_s

    def rounds(self) -> dict[str, Array]:
        exact = ("time_s", "fragmentation")
        columns = {name: self._table[name] for name in ROUND_COLUMNS}
        return {name: each if name in exact else each.astype(np.int64) for name, each in columns.items()}

    def stints(self, end_s: float) -> dict[str, Array]:
        """One row per stint and GPU; unfinished stints end with the run, at `end_s`."""
        return Stints.of(self._happened, end_s).table()

    def gpu_seconds(self, begin_s: float, until_s: float) -> float:
        """GPU-seconds held between two times; a GPU that two jobs share counts once."""
        return self._stints.gpu_seconds(begin_s, until_s, shared=self.shared)

    def waits(self) -> dict[str, float]:
        """Total seconds that jobs have waited, by cause; see counted_cause() and `told`."""
        table = self._table
        elapsed = np.diff(np.append(table["time_s"], max(self._end_s, table["time_s"][-1:].max(initial=0.0))))
        by_cause = {cause: table[f"waiting_{cause}"] for cause in CAUSES} | {"admission": table["held"]}
        if table[f"waiting_{SCHEDULER}"].any():
            by_cause[SCHEDULER] = table[f"waiting_{SCHEDULER}"]
        return {cause: float((jobs * elapsed).sum()) for cause, jobs in by_cause.items()}

    @cached_property
    def _happened(self) -> Happened:
        return self._journal.read()

    @cached_property
    def _stints(self) -> Stints:
        return Stints.of(self._happened, self._end_s)

    @cached_property
    def _table(self) -> dict[str, Array]:
        """All columns of the noted rounds."""
        table = self._with_ends_of_rounds()
        noted, submitted = (table[name].astype(np.int64) for name in ("noted", "submitted"))
        jobs, gone_gpus, waiting = self._counted(noted, submitted)
        table["launched"], table["suspended"] = jobs[Kind.LAUNCH], jobs[Kind.SUSPEND]
        table["moved"], table["finished"] = jobs[Kind.ARRIVE], jobs[[*Kind.COMPLETED]].sum(axis=0)
        table["running"] = np.cumsum(jobs[[*Kind.STARTS]].sum(axis=0) - jobs[[*Kind.ENDS]].sum(axis=0))
        table["held"] = submitted - np.cumsum(jobs[[*Kind.ENTERED]].sum(axis=0))
        table["free_gpus"] = table["gpus_total"] - table["gpus_used"]
        asked_by_all = np.concatenate(([0], np.cumsum(self._gpus)))[submitted]
        table["gpus_demanded"] = asked_by_all - np.cumsum(gone_gpus)
        table.update(self._queue(table, waiting))
        return table

    def _with_ends_of_rounds(self) -> dict[str, Array]:
        """The stored columns and the number of GPUs `handed_out`. Where that is above 0 and the round ends
        before the next row, a row with 0 is added at its end: they explain waiting only until then."""
        table = dict(zip(_NOTED, np.frombuffer(self._rows).reshape(-1, len(_NOTED)).T))
        time_s, handed_out = table["time_s"], self._handed_out(table["noted"].astype(np.int64))
        ends_s = np.full(len(time_s), math.inf)
        if self._round_end is not None:
            ends_s[handed_out > 0] = [self._round_end(begin_s) for begin_s in time_s[handed_out > 0].tolist()]
        ends = ends_s < np.append(time_s[1:], self._end_s)
        added = (np.cumsum(1 + ends) - 1)[ends]
        table["handed_out"] = handed_out
        table = {name: column.repeat(1 + ends) for name, column in table.items()}
        table["time_s"][added], table["handed_out"][added] = ends_s[ends], 0
        return table

    def _handed_out(self, noted: Array) -> Array:
        """Number of GPUs on which stints start, by round; a GPU that two jobs get counts once. `noted`: the
        length of the journal in each round."""
        kind, size, *_, counts, gpus = self._happened
        stints = np.cumsum(np.append(0, np.where(np.isin(kind, Kind.STARTS), size, 0)))[noted]
        before = int(size[kind == Kind.RUNNING_BEFORE].sum())
        granted = np.cumsum(np.append(0, counts))[np.append(before, stints)]  # since the beginning
        if not self.shared:
            return np.diff(granted)
        return np.array([len(np.unique(gpus[first:end])) for first, end in pairwise(granted.tolist())])

    def _counted(self, noted: Array, submitted: Array) -> tuple[Array, Array, dict[int, Array]]:
        """By round: jobs that something happened to (kinds x rounds), GPUs that gone jobs had asked for, and
        GPU count -> admitted jobs of that size that wait. `noted`: the length of the journal in each round,
        `submitted`: the number of jobs by then."""
        happened, rounds = self._happened, len(noted)
        kind, size = (column[: noted[-1:].max(initial=0)] for column in (happened.kind, happened.size))
        at = noted.searchsorted(np.arange(len(size)), side="right")  # the round of each event
        job = happened.job[: int(size.sum())]
        # Sizes of jobs; by row: the place of its size among them.
        asked, place = np.unique(self._gpus[: submitted[-1:].max(initial=0)], return_inverse=True)

        def by_size(kinds: tuple[int, ...]) -> Array:
            """Jobs that one of these kinds of events happened to, sizes x rounds."""
            found = np.isin(kind, kinds)
            where = place.take(job[np.repeat(found, size)])
            where *= rounds
            where += np.repeat(at[found], size[found])
            return np.bincount(where, minlength=len(asked) * rounds).reshape(len(asked), rounds)

        jobs = np.bincount(kind * rounds + at, weights=size, minlength=Kind.COUNT * rounds)
        waiting = (by_size(Kind.BEGIN_TO_WAIT) - by_size(Kind.CEASE_TO_WAIT)).cumsum(axis=1)
        jobs = jobs.reshape(Kind.COUNT, rounds)
        return jobs, asked @ by_size(Kind.GONE), dict(zip(asked.tolist(), waiting))

    def _queue(self, table: dict[str, Array], waiting: dict[int, Array]) -> dict[str, Array]:
        """Number of admitted jobs that wait, by round: in total (`queued`) and by cause.

        `waiting`: GPU count -> jobs of that size."""
        free, told = table["free_gpus"], self._told_by_gpus(table["time_s"])
        by_cause = {cause: np.zeros(len(free)) for cause in (*CAUSES, SCHEDULER)}
        for asked, jobs in waiting.items():
            left_out = np.where(asked <= free, told.get(asked, 0), 0)
            by_cause[SCHEDULER] += left_out
            cause_of = counted_cause(asked, free, table["handed_out"], table["blocked"] == 1)
            for code, (cause, _) in enumerate(COUNTED):
                by_cause[cause] += np.where(cause_of == code, jobs - left_out, 0)
        queue = {f"waiting_{cause}": jobs for cause, jobs in by_cause.items()}
        return queue | {"queued": sum(by_cause.values(), np.zeros(len(free)))}

    def _told_by_gpus(self, time_s: Array) -> dict[int, Array]:
        """GPU count -> waiting jobs of that size with a reason from the scheduler, by round."""
        waits = self.told.of_part("scheduling")
        asked, place = np.unique(self._gpus.take(waits["job"]), return_inverse=True)
        # Waits begin and end in noted rounds; one that lasts ends in a further column, which is left out.
        width = len(time_s) + 1
        row_start = place * width  # in a table of sizes x times, as one row of numbers
        first, last = (time_s.searchsorted(waits[at], side="right") - 1 for at in ("start_s", "end_s"))
        last[waits["end_s"] == math.inf] = len(time_s)
        jobs = np.bincount(row_start + first, minlength=len(asked) * width)
        jobs -= np.bincount(row_start + last, minlength=len(asked) * width)
        jobs = jobs.reshape(len(asked), width)
        jobs.cumsum(axis=1, out=jobs)
        return dict(zip(asked.tolist(), jobs[:, :-1]))
