"""JobState: the table of jobs, their lifecycle and their progress.

A job is a row number, in order of submission. Policies read columns through accessors that are aligned
with `active`; they change nothing but their own `memory()`. This table decides nothing.

`progress.py` defines progress and how it is stored.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ReferenceType

import numpy as np

from blox.errors import BloxError
from blox.state import progress
from blox.state.change_log import ChangeLog
from blox.state.columns import ADMITTED, FINISHED, NAN, SUBMISSION, Columns, ScalarColumns, read_only
from blox.workloads.table import Array, JobTable

if TYPE_CHECKING:
    from blox.state.line import ActiveLine

T = TypeVar("T")

_NO_ROWS: Array = np.empty(0, dtype=np.int64)
_ADMITTED: Array = np.array(ADMITTED, dtype=np.int8)  # numpy converts a plain number at every comparison


class JobState:
    """Every job that has been submitted; `active` are the admitted, unfinished ones, ascending.

    Accessors without an argument return arrays aligned with `active`. Other rows are read through
    `columns`, e.g. `job_state.columns.gpus[new_jobs]` in an admission policy.
    """

    def __init__(self, seed: int = 0) -> None:
        self.now = 0.0
        self.seed = seed
        self.active_count = 0  # number of active jobs, known without listing them
        self._hold(Columns())
        self.waiting: Array = _NO_ROWS  # submitted, not admitted; ascending
        self.just_admitted: Array = _NO_ROWS  # admitted in this round
        self.just_finished: Array = _NO_ROWS  # finished at the start of this round
        self.unread_lines: list[ReferenceType[ActiveLine]] = []  # this round's, for `settle_lines`
        self.changes = ChangeLog()  # rows that were admitted, started, stopped or finished
        self.starts = ChangeLog()  # rows that started
        self.submitted = 0  # rows [0, submitted) are visible
        self.typed = False  # whether any job is restricted to some GPU types
        self.single_gpu = True  # whether every job so far asks for one GPU
        self.resized = False  # whether any job so far has run on another number of GPUs than it asks for
        self._active: Array | None = None  # the active rows; None: not computed
        self._oldest = 0  # every row below this one has finished
        self._staged = 0  # rows [0, _staged) are loaded
        self._metrics: dict[str, Array] = {}
        self._memory: dict[str, Any] = {}
        self._known: list[tuple[object, Any]] = []  # (policy object, its memory): builds its key once

    # -- submission and admission ------------------------------------------------------------------

    def stage(self, jobs: JobTable, expected_s: Array) -> Array:
        """Loads jobs in bulk and returns their rows; `submit` makes them visible at their submission time."""
        start, stop = self._staged, self._staged + len(jobs)
        self._grow(stop)
        for name in jobs.columns.keys() & SUBMISSION:
            getattr(self.columns, name)[start:stop] = jobs.columns[name]
        for name, values in jobs.extra.items():
            self.columns.put_extra(name, start, values)
        gpus = self.columns.gpus[start:stop]
        self.single_gpu = self.single_gpu and bool((gpus == 1).all())
        for bound in (self.columns.min_gpus[start:stop], self.columns.max_gpus[start:stop]):
            bound[bound == 0] = gpus[bound == 0]
        self.columns.expected_s[start:stop] = expected_s
        self.typed = self.typed or any(self.columns.gpu_types[start:stop])
        self._staged = stop
        return np.arange(start, stop)

    def submit(self, count: int) -> None:
        """Submits the next `count` staged jobs: they join the wait queue."""
        rows = self._rows[self.submitted : self.submitted + count]
        self.submitted += count
        self.waiting = rows if not len(self.waiting) else np.concatenate((self.waiting, rows))

    def add_new_jobs(self, accepted: Array) -> None:
        """Admits jobs of the wait queue; jobs not in `accepted` stay in it."""
        if not len(accepted):
            return
        if accepted is self.waiting:
            self.waiting = _NO_ROWS
        else:
            accepted = np.sort(np.asarray(accepted, dtype=np.int64))
            left = self.waiting[~np.isin(self.waiting, accepted)]
            if len(left) + len(accepted) != len(self.waiting):
                raise BloxError(
                    "the admission policy accepted jobs that are not in the wait queue, or one twice",
                    where="accept()",
                    fix="return a selection of the rows in new_jobs",
                )
            self.waiting = left
        at = scalar_index(accepted)
        self.columns.status[at] = ADMITTED
        self.columns.admit_s[at] = self.now
        progress.admit(self, at)
        self.active_count += len(accepted)
        self._active = None
        self.changes.note(accepted)
        earlier = self.just_admitted
        self.just_admitted = accepted if not len(earlier) else np.concatenate((earlier, accepted))

    # -- lifecycle, called by the manager when a plan is carried out ----------------------------------

    def start(self, rows: Array, gpus_held: Array, rate: Array | float, anchor: Array | float) -> None:
        """Begins a stint of jobs on GPUs; work counts from `anchor` on, GPU time from now on."""
        self.changes.note(rows)
        self.starts.note(rows)
        progress.begin(self, rows, gpus_held, rate, anchor)

    def stop(self, rows: Array, end: Array | float) -> None:
        """Ends the stint of jobs at `end` (now, or the exact time of their finish); banks their progress."""
        self.changes.note(rows)
        progress.bank(self, rows, end)

    def finish(self, rows: Array, end: Array | float) -> None:
        """Removes jobs that have stopped from the active set, finally."""
        earlier = self.just_finished
        self.just_finished = rows if not len(earlier) else np.concatenate((earlier, rows))
        self.columns.status[scalar_index(rows)] = FINISHED
        self.columns.finish_s[rows] = end
        self.active_count -= len(rows)
        self._active = None
        self.changes.note(rows)

    def one(self, row: int) -> Array:
        """A row as an array. Do not change it."""
        return self._rows[row : row + 1]

    def array_of(self, rows: list[int]) -> Array:
        """Rows as an array. Do not change it."""
        if len(rows) == 1:
            return self.one(rows[0])
        return np.array(rows, dtype=np.int64) if rows else _NO_ROWS

    # -- accessors, aligned with `active` ----------------------------------------------------------

    @property
    def active(self) -> Array:
        """The admitted, unfinished jobs, ascending. Do not change it."""
        if self._active is None:
            rows = (self.columns.status[self._oldest : self.submitted] == _ADMITTED).nonzero()[0]
            rows += self.one(self._oldest)  # numpy adds a plain number more slowly
            rows.setflags(write=False)
            self._active = rows
            self._oldest = rows.item(0) if len(rows) else self.submitted
            if len(self.waiting):
                self._oldest = min(self._oldest, self.waiting.item(0))
        return self._active

    def column(self, name: str) -> Array:
        """Any column by name, also one of the workload's own, aligned with `active`."""
        return self.columns.named(name)[self.active]

    @property
    def gpus(self) -> Array:
        """GPUs that each job asks for."""
        return self.columns.gpus[self.active]

    @property
    def expected_s(self) -> Array:
        """Believed duration in isolation."""
        return self.columns.expected_s[self.active]

    @property
    def submit_s(self) -> Array:
        return self.columns.submit_s[self.active]

    @property
    def priority(self) -> Array:
        """Larger is more urgent."""
        return self.columns.priority[self.active]

    @property
    def held_gpus(self) -> Array:
        """GPUs that each job holds now; 0: it waits."""
        return self.columns.held_gpus[self.active]

    @property
    def running(self) -> Array:
        """Which jobs hold GPUs."""
        return self.columns.held_gpus[self.active] > 0

    def gpu_seconds(self) -> Array:
        """GPU time received: GPUs held, integrated over time, launch overheads included."""
        return progress.gpu_seconds(self, self.active, self.now)

    def run_s(self) -> Array:
        """Time received, whatever the number of GPUs."""
        return progress.run_s(self, self.active, self.now)

    def done_s(self) -> Array:
        """Work done, in seconds of isolated run time."""
        return progress.done_s(self, self.active, self.now)

    def remaining_s(self) -> Array:
        """Believed remaining isolated run time, never below 0."""
        left: Array = np.maximum(0.0, self.expected_s - self.done_s())
        return left

    def metric(self, name: str) -> Array:
        """An open metric (loss, gradient norm, ...) as last reported; nan where never reported."""
        return self._metric_column(name)[self.active]

    def metrics_of(self, row: int) -> dict[str, float]:
        """Every open metric that a job has reported, as last reported."""
        told = {name: float(self._metric_column(name)[row]) for name in self._metrics}
        return {name: value for name, value in told.items() if value == value}

    def never_reported(self) -> list[str]:
        """The open metrics that a policy has read and no job has reported."""
        return [name for name, values in self._metrics.items() if np.isnan(values).all()]

    def report_metric(self, name: str, rows: Array | int, values: Array | float) -> None:
        """Stores what one or several jobs report about themselves."""
        self._metric_column(name)[rows] = values

    def settle_lines(self) -> None:
        """Evaluates the lines of this round that are still referenced, before the plan changes the state."""
        lines, self.unread_lines = self.unread_lines, []
        for unread in lines:
            if (line := unread()) is not None:
                line.settle()

    # -- what policies remember, and randomness -------------------------------------------------------

    def memory(self, policy: object, factory: Callable[[], T]) -> T:
        """What `policy` remembers between rounds: the only thing that a policy may change."""
        for known, memory in self._known:  # few entries; a dictionary by id() would call every audit hook
            if known is policy:
                return memory  # type: ignore[no-any-return]
        name = _policy_key(policy)  # the same for every object with this name and these parameters
        if name not in self._memory:
            self._memory[name] = factory()
        self._known.append((policy, self._memory[name]))
        return self._memory[name]  # type: ignore[no-any-return]

    def memories(self) -> dict[str, Any]:
        """What the policies remember, each by its class, verbs and parameters; for storing it."""
        return self._memory

    def restore_memories(self, memories: dict[str, Any]) -> None:
        """Gives the policies what they remembered when it was stored."""
        self._memory, self._known = memories, []

    def forget(self, verb: str) -> None:
        """Drops the memory of policies with a verb (accept, schedule, place).

        Call it when other policies replace them."""
        kept = {name for name in self._memory if verb not in name.partition(" ")[0].split(".")}
        self.restore_memories({name: memory for name, memory in self._memory.items() if name in kept})

    def rng(self, policy: object) -> np.random.Generator:
        """Random numbers for this policy in this round: the same whether or not rounds were skipped.

        Another class or other parameters give another stream. Callers that pass the same string share a
        stream, so that runs that differ in one parameter see the same draws."""
        moment = int(np.float64(self.now).view(np.uint64))
        key = (zlib.crc32(_policy_key(policy).encode()), moment & 0xFFFFFFFF, moment >> 32)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def fork(self) -> JobState:
        """An independent copy of the jobs submitted so far: changes to it do not affect this state.

        It leaves out jobs that are staged and not submitted yet: no state knows its future.
        """
        twin = self.select(self._rows[: self.submitted])
        twin.just_admitted, twin.just_finished = self.just_admitted, self.just_finished
        twin.changes, twin.starts = self.changes.copy(), self.starts.copy()
        twin._memory = copy.deepcopy(self._memory, {id(self): twin})
        return twin

    def select(self, rows: Array) -> JobState:
        """An independent copy of some rows, ascending, numbered from 0; every unfinished job must be in it.

        It leaves out the memory of policies, which names rows by their old numbers.
        """
        twin = JobState(self.seed)  # writable, also if this one is sealed
        twin._hold(self.columns.select(rows))
        twin.now, twin.active_count = self.now, self.active_count
        twin.typed, twin.single_gpu, twin.resized = self.typed, self.single_gpu, self.resized
        twin.submitted = twin._staged = len(rows)
        twin.waiting = rows.searchsorted(self.waiting)
        twin._metrics = {name: self._metric_column(name)[rows] for name in self._metrics}
        return twin

    def _metric_column(self, name: str) -> Array:
        values = self._metrics.get(name, np.empty(0))
        if len(values) < len(self.columns.gpus):
            more = np.full(len(self.columns.gpus) - len(values), NAN)
            values = self._metrics[name] = np.concatenate((values, more))
        return values

    def _grow(self, needed: int) -> None:
        size = len(self.columns.gpus)
        if needed > size:
            self._hold(self.columns.grown(max(needed, 2 * size, 256)))

    def _hold(self, columns: Columns) -> None:
        self.columns, self.scalars = columns, ScalarColumns(columns)
        self._rows = read_only(np.arange(len(columns.gpus)))  # 0, 1, 2, ...: rows are slices of it


def scalar_index(rows: Array) -> Any:
    """`rows` as an index of columns: one row as a plain number, which numpy handles several times faster."""
    return rows.item() if len(rows) == 1 else rows


def _policy_key(policy: object) -> str:
    """Names a policy by its class, verbs and parameters: the same in every folder, on every machine."""
    if isinstance(policy, str):
        return policy
    cls = type(policy)
    verbs = [verb for verb in ("accept", "schedule", "place", "terminate") if hasattr(cls, verb)]
    told = repr(policy)
    return f"{cls.__qualname__}.{'.'.join(verbs)} {'' if ' object at 0x' in told else told}"
