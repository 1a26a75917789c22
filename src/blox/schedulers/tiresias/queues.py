"""What Tiresias remembers of every job: its queue, when it first started, and when it will be demoted.

The demotion of a running job is an event with a time that is known when the job starts, so nothing is
worked out for jobs that neither start nor stop nor cross a threshold.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

import numpy as np

from blox.schedulers.tiresias.sorted_places import SortedPlaces
from blox.state import progress
from blox.state.columns import ADMITTED, FINISHED
from blox.state.jobs import JobState
from blox.workloads.table import Array

_QUEUE = 1 << 32  # a queue's number stands above everything else in a job's place
_UNSTARTED = 1 << 31  # within a queue, jobs that have started come before those that have not
_COLUMNS = ("level", "place", "spent_gpu_s", "spent_s", "promotions", "_since")
SHORT_LINE = 256  # jobs: among more, counting all at once is faster


class Standings:
    """Columns by row: `level` (queue, 0 is the first), `place` (sorts by queue, then by first start, then by
    submission), GPU-seconds and seconds that do not count any more, and how often a job was promoted."""

    def __init__(self, thresholds: tuple[float, ...]) -> None:
        self.thresholds = thresholds
        self.level: Array = np.zeros(0, dtype=np.int64)
        self.place: Array = np.zeros(0, dtype=np.int64)
        self.spent_gpu_s: Array = np.zeros(0)
        self.spent_s: Array = np.zeros(0)
        self.promotions: Array = np.zeros(0, dtype=np.int64)
        self._since: Array = np.zeros(0)  # the start of the stint that is known; nan: none
        self._started = 0
        self._due: list[
            tuple[float, int, float]
        ] = []  # heap: (time of the demotion, row, start of the stint)
        self._read = 0  # position in job_state.starts
        self._line: SortedPlaces | None = None  # of the active jobs; None: not asked for yet
        self._line_read = 0  # position in job_state.changes
        self._moved: list[int] = []  # rows that have another place than in the line

    def update(self, job_state: JobState) -> None:
        """Takes in new and started jobs, and demotes jobs that have had their queue's service by now."""
        if job_state.submitted > len(self.level):
            self._grow(len(job_state.columns.gpus))
        self._take_in(job_state)
        while self._due and self._due[0][0] <= job_state.now:
            self._demote(job_state, *heappop(self._due))

    def keys(self, job_state: JobState) -> tuple[Array]:
        """What sorts the active jobs. Jobs that came and went between two calls are passed over."""
        self.update(job_state)
        return (self.place.take(job_state.active),)

    def contested(self, job_state: JobState, free: int) -> list[int] | None:
        """The jobs among which it is decided which start and which make room; see `Line.contested`."""
        self.update(job_state)
        changed = job_state.changes.since(self._line_read)
        if self._line is None or changed is None:
            self._line = SortedPlaces()
            self._line_up(job_state.active.tolist(), job_state)
        else:
            touched = [*self._moved, *(row for rows in changed for row in rows.tolist())]
            self._line_up(dict.fromkeys(touched), job_state)
        self._line_read, self._moved = job_state.changes.end, []
        one = job_state.scalars
        return self._line.contested(one.held_gpus, one.gpus, free, SHORT_LINE)

    def next_demotion(self, job_state: JobState) -> float:
        """When the next running job leaves its queue; inf: never."""
        while self._due:
            if self._holds(job_state, *self._due[0]):
                return self._due[0][0]
            heappop(self._due)
        return math.inf

    def service(self, job_state: JobState, rows: Array) -> Array:
        """GPU-seconds of each job that count."""
        return progress.gpu_seconds(job_state, rows, job_state.now) - self.spent_gpu_s.take(rows)

    def promotion_times(self, job_state: JobState, knob: float) -> tuple[Array, Array]:
        """Waiting jobs below the first queue, and when each has waited `knob` times what it has executed."""
        c, active = job_state.columns, job_state.active
        rows = active[(c.held_gpus.take(active) == 0) & (self.level.take(active) > 0)]
        return rows, c.held_since.take(rows) + knob * (c.run0.take(rows) - self.spent_s.take(rows))

    def promote(self, job_state: JobState, rows: Array) -> None:
        """Jobs go back to the first queue as if they had just started there for the first time."""
        c = job_state.columns
        self.place[rows] = self._started + np.arange(len(rows))
        self._started += len(rows)
        self.level[rows] = 0
        self.spent_gpu_s[rows] = c.held0[rows]
        self.spent_s[rows] = c.run0[rows]
        self.promotions[rows] += 1
        if self._line is not None:
            self._moved += rows.tolist()

    def renumber(self, rows: Array) -> None:
        """Row r is now `rows[r]`, in the same order; -1: forgotten. What is derived is worked out anew."""
        size = min(len(self.level), len(rows))
        kept = rows[:size] >= 0
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[:size][kept])
        unstarted = (self.place & _UNSTARTED).astype(bool)
        queue = self.level[unstarted] * _QUEUE + _UNSTARTED
        self.place[unstarted] = queue + np.flatnonzero(unstarted)
        self._due = [(at, int(rows[row]), since) for at, row, since in self._due if rows[row] >= 0]
        heapify(self._due)
        self._read, self._line, self._line_read, self._moved = 0, None, 0, []

    def _take_in(self, job_state: JobState) -> None:
        """Looks at the jobs that have started since the last call."""
        log = job_state.starts
        if self._read == log.end:
            return
        starts = log.since(self._read)
        for rows in (job_state.active,) if starts is None else starts:
            self._look_at(rows, job_state)
        self._read = log.end

    def _look_at(self, rows: Array, job_state: JobState) -> None:
        """Gives started jobs a place and a time of demotion; demotes stopped jobs by the service they had."""
        if len(rows) > 1:
            rows = rows[np.lexsort((rows, job_state.columns.first_start_s.take(rows)))]
        one = job_state.scalars
        for row in rows.tolist():
            first_start_s = one.first_start_s[row]
            if first_start_s != first_start_s or one.status[row] == FINISHED:
                continue
            if self.place.item(row) & _UNSTARTED:
                self.place[row] = self.level.item(row) * _QUEUE + self._started
                self._started += 1
            since = one.held_since[row]
            if not one.held_gpus[row]:
                self._catch_up(row, one.held0[row])
                self._since[row] = math.nan  # the demotion expected of an earlier stint is void
            elif since != self._since.item(row):
                self._since[row] = since
                self._expect(job_state, row, since)

    def _line_up(self, rows: Iterable[int], job_state: JobState) -> None:
        """Gives jobs their present place in the line."""
        assert self._line is not None
        status, held = job_state.scalars.status, job_state.scalars.held_gpus
        for row in rows:
            if status[row] == ADMITTED:
                self._line.put(row, self.place.item(row), not held[row])
            else:
                self._line.drop(row)

    def _catch_up(self, row: int, gpu_seconds: float) -> None:
        """A job that lost its node may have reached a threshold without having been seen to run."""
        reached = bisect_right(self.thresholds, gpu_seconds - self.spent_gpu_s.item(row))
        if reached > self.level.item(row):
            self.place[row] += (reached - self.level.item(row)) * _QUEUE
            self.level[row] = reached

    def _expect(self, job_state: JobState, row: int, since: float) -> None:
        level = self.level.item(row)
        if level < len(self.thresholds):
            one = job_state.scalars
            left = self.thresholds[level] - (one.held0[row] - self.spent_gpu_s.item(row))
            heappush(self._due, (since + left / one.held_gpus[row], row, since))

    def _holds(self, job_state: JobState, due: float, row: int, since: float) -> bool:
        """Whether a job runs, or ran, the stint until it was due."""
        one = job_state.scalars
        if one.status[row] == FINISHED or self._since.item(row) != since:
            return False
        return bool(one.held_gpus[row]) or one.held_since[row] >= due

    def _demote(self, job_state: JobState, due: float, row: int, since: float) -> None:
        if not self._holds(job_state, due, row, since):
            return
        self.level[row] += 1
        self.place[row] += _QUEUE
        if self._line is not None:
            self._moved.append(row)
        if job_state.scalars.held_gpus[row]:
            self._expect(job_state, row, since)
        else:  # its stint is over, and may have reached a further threshold
            self._catch_up(row, job_state.scalars.held0[row])

    def _grow(self, size: int) -> None:
        old = len(self.level)
        for name, empty in (
            ("level", np.zeros(size, dtype=np.int64)),
            ("place", np.arange(size, dtype=np.int64) + _UNSTARTED),
            ("spent_gpu_s", np.zeros(size)),
            ("spent_s", np.zeros(size)),
            ("promotions", np.zeros(size, dtype=np.int64)),
            ("_since", np.full(size, np.nan)),
        ):
            empty[:old] = getattr(self, name)
            setattr(self, name, empty)
