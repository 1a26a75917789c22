"""JobState: the table of jobs, their lifecycle and their progress.

A job is a row number, in order of submission. Policies read columns through accessors that are aligned
with `active`; they change nothing but their own `memory()`. Who may run, and where, is decided elsewhere.

Progress is anchored: `done(now) = done0 + rate * max(0, now - anchor)`. Nothing is accumulated per
round, so a round that is skipped and one that is executed leave the very same bits behind.
"""

from __future__ import annotations

import copy
import math
import zlib
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, TypeVar

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import COLUMNS, Array, JobTable

T = TypeVar("T")

# Lifecycle of a job, in the column `status`. Which admitted jobs run is told by `held_gpus`.
SUBMITTED, ADMITTED, FINISHED = range(3)

FEW = 7  # jobs: so many are handled one by one, as plain numbers; above, arrays are faster
NAN = float("nan")
_NO_ROWS: Array = np.empty(0, dtype=np.int64)
_SPARE: Array = np.zeros(64, dtype=np.int64)  # room for more rows at the end of `active`

# What the scheduler itself keeps about a job, beside the columns of its submission.
_OWN_COLUMNS: dict[str, tuple[Any, Any]] = {
    "expected_s": (np.float64, NAN),  # believed duration in isolation; the truth stays with the backend
    "status": (np.int8, SUBMITTED),
    "admit_s": (np.float64, NAN),
    "first_start_s": (np.float64, NAN),
    "finish_s": (np.float64, NAN),
    "preemptions": (np.int64, 0),
    "moves": (np.int64, 0),
    "done0": (np.float64, 0.0),  # seconds of isolated work done at the anchor
    "rate": (np.float64, 0.0),  # work per second since the anchor; 0 when not running
    "anchor": (np.float64, 0.0),  # in the future while a launch costs time
    "held_gpus": (np.int64, 0),  # GPUs held now
    "gpu_rate": (np.float64, 0.0),  # the same number: GPU-seconds received per second
    "held_since": (np.float64, 0.0),  # start of the present stint; after a preemption, its time
    "held0": (np.float64, 0.0),  # GPU-seconds of earlier stints
    "run0": (np.float64, 0.0),  # seconds of earlier stints
}


class Columns:
    """The raw columns, one array each, indexed by row. Longer than the table: use rows, not slices."""

    job_id: Array
    submit_s: Array
    gpus: Array
    user: Array
    tenant: Array
    group: Array
    model: Array
    job_type: Array
    priority: Array
    deadline_s: Array
    min_gpus: Array
    max_gpus: Array
    share_milli: Array
    gpu_types: Array
    cpu: Array
    memory_gb: Array
    batch_size: Array
    min_batch_size: Array
    max_batch_size: Array
    iterations: Array
    iteration_s: Array
    expected_s: Array
    status: Array
    admit_s: Array
    first_start_s: Array
    finish_s: Array
    preemptions: Array
    moves: Array
    done0: Array
    rate: Array
    anchor: Array
    held_gpus: Array
    gpu_rate: Array
    held_since: Array
    held0: Array
    run0: Array


_SUBMISSION = {
    name: (c.dtype, "" if c.is_text else c.default) for name, c in COLUMNS.items() if name != "duration_s"
}
_ALL_COLUMNS = {**_SUBMISSION, **_OWN_COLUMNS}


class JobState:
    """Every job that has been submitted; `active` are the admitted, unfinished ones, ascending.

    Accessors without an argument return arrays aligned with `active`. Other rows are read through
    `columns`, e.g. `job_state.columns.gpus[new_jobs]` in an admission policy.
    """

    def __init__(self, seed: int = 0) -> None:
        self.now = 0.0
        self.seed = seed
        self.columns = Columns()
        self.active: Array = _NO_ROWS
        self.waiting: Array = _NO_ROWS  # submitted, not admitted; ascending, so those held earlier come first
        self.just_admitted: Array = _NO_ROWS  # in this round
        self.just_finished: Array = _NO_ROWS  # at its beginning
        self.starts: list[Array] = []  # who has started, time after time; a policy remembers how far it read
        self.submitted = 0  # rows [0, submitted) are visible
        self.typed = False  # whether any job is restricted to some GPU types
        self.single_gpu = True  # whether every job so far asks for one GPU
        self._ones: Array = np.ones(256, dtype=np.int64)
        self._rows: Array = _NO_ROWS  # 0, 1, 2, ... for every column entry: rows are slices of it
        self._room: Array = _NO_ROWS  # `active` is its beginning, and what comes behind is free
        self._staged = 0  # rows already loaded, to become visible at their submission
        self._metrics: dict[str, Array] = {}
        self._memory: dict[str, Any] = {}
        self._known: dict[int, tuple[object, Any]] = {}  # the same for policies that have asked, by their id
        for name, (dtype, default) in _ALL_COLUMNS.items():
            setattr(self.columns, name, np.full(0, default if default is not None else 0, dtype=dtype))

    # -- submission and admission ------------------------------------------------------------------

    def stage(self, jobs: JobTable, expected_s: Array) -> Array:
        """Loads jobs in bulk and returns their rows; `submit` makes them visible when their time comes."""
        start, stop = self._staged, self._staged + len(jobs)
        self._grow(stop)
        for name in _SUBMISSION:
            if name in jobs.columns:
                getattr(self.columns, name)[start:stop] = jobs.columns[name]
        gpus = self.columns.gpus[start:stop]
        self.single_gpu = self.single_gpu and bool((gpus == 1).all())
        for bound in (self.columns.min_gpus[start:stop], self.columns.max_gpus[start:stop]):
            bound[bound == 0] = gpus[bound == 0]
        self.columns.expected_s[start:stop] = expected_s
        if "gpu_types" in jobs.columns and any(jobs.columns["gpu_types"]):
            self.typed = True
        self._staged = stop
        return np.arange(start, stop)

    def submit(self, count: int) -> None:
        """The next `count` staged jobs are submitted: they join the wait queue."""
        rows = self._rows[self.submitted : self.submitted + count]
        self.submitted += count
        self.waiting = rows if not len(self.waiting) else np.concatenate((self.waiting, rows))

    def add_new_jobs(self, accepted: Array) -> None:
        """Admits jobs of the wait queue; what is left out stays waiting."""
        if not len(accepted):
            return
        if accepted is self.waiting:
            self.waiting = _NO_ROWS
        else:
            accepted = np.sort(np.asarray(accepted, dtype=np.int64))
            left = np.setdiff1d(self.waiting, accepted)
            if len(left) + len(accepted) != len(self.waiting):
                raise BloxError(
                    "the admission policy accepted jobs that are not in the wait queue, or one twice",
                    where="accept()",
                    fix="return a selection of the rows in new_jobs",
                )
            self.waiting = left
        c, at = self.columns, one_or_all(accepted)
        c.status[at] = ADMITTED
        c.admit_s[at] = self.now
        c.held_since[at] = self.now
        before, count = len(self.active), len(self.active) + len(accepted)
        in_order = not before or accepted.item(0) > self.active.item(-1)
        if count > len(self._room):
            self._room = np.concatenate((self.active, accepted, _SPARE))
        else:
            self._room[before:count] = accepted
        self.active = self._room[:count]
        if not in_order:
            self.active = self._room = np.sort(self.active)
        self.just_admitted = accepted

    # -- lifecycle, called by the manager when a plan is carried out ----------------------------------

    def start(self, rows: Array, gpus_held: Array, rate: Array | float, anchor: Array | float) -> None:
        """Jobs begin a stint on GPUs; work counts from `anchor` on, GPU time from now on."""
        c, now = self.columns, self.now
        self.starts.append(rows)
        if len(rows) <= FEW:  # plain numbers are much faster than short arrays
            speeds = repeat(rate) if type(rate) is float else each(rate, rows)
            begins = repeat(anchor) if type(anchor) is float else each(anchor, rows)
            for row, held, speed, begin in zip(rows.tolist(), gpus_held.tolist(), speeds, begins):
                c.rate[row] = speed
                c.anchor[row] = begin
                c.held_gpus[row] = c.gpu_rate[row] = held
                c.held_since[row] = now
                if math.isnan(c.first_start_s.item(row)):
                    c.first_start_s[row] = now
            return
        c.rate[rows] = rate
        c.anchor[rows] = anchor
        c.held_gpus[rows] = c.gpu_rate[rows] = gpus_held
        c.held_since[rows] = now
        c.first_start_s[rows] = np.fmin(c.first_start_s.take(rows), now)  # fmin passes over nan

    def stop(self, rows: Array, end: Array | float) -> None:
        """Jobs end their stint at `end` (now, or the exact time of their finish); progress is banked."""
        c = self.columns
        if len(rows) <= FEW:
            ends = repeat(end) if type(end) is float else each(end, rows)
            for row, until in zip(rows.tolist(), ends):
                ran, worked = until - c.held_since.item(row), until - c.anchor.item(row)
                c.run0[row] = c.run0.item(row) + ran
                c.held0[row] = c.held0.item(row) + ran * c.held_gpus.item(row)
                if worked > 0:
                    c.done0[row] = c.done0.item(row) + c.rate.item(row) * worked
                c.held_gpus[row] = 0
                c.rate[row] = c.gpu_rate[row] = 0.0
                c.held_since[row] = until
            return
        ran = end - c.held_since.take(rows)
        c.run0[rows] += ran
        c.held0[rows] += ran * c.held_gpus.take(rows)
        c.done0[rows] += c.rate.take(rows) * np.maximum(0.0, end - c.anchor.take(rows))
        c.held_gpus[rows] = 0
        c.rate[rows] = c.gpu_rate[rows] = 0.0
        c.held_since[rows] = end

    def finish(self, rows: Array, end: Array | float) -> None:
        """Jobs that have stopped leave the active set for good."""
        c, active, earlier = self.columns, self.active, self.just_finished
        self.just_finished = rows if not len(earlier) else np.concatenate((earlier, rows))
        if len(rows) == 1:
            row = rows.item()
            c.status[row] = FINISHED
            c.finish_s[row] = end.item() if isinstance(end, np.ndarray) else end
            gone = active.searchsorted(rows).item()
            self._room = np.concatenate((active[:gone], active[gone + 1 :], _SPARE))
            self.active = self._room[: len(active) - 1]
        else:
            c.status[rows] = FINISHED
            c.finish_s[rows] = end
            self.active = self._room = active[c.status.take(active) != FINISHED]

    def one(self, row: int) -> Array:
        """A row as an array. Do not change it."""
        return self._rows[row : row + 1]

    def ones(self, count: int) -> Array:
        """So many ones: what single-GPU jobs ask for. Do not change it."""
        if len(self._ones) < count:
            self._ones = np.ones(2 * count, dtype=np.int64)
        return self._ones[:count]

    # -- accessors, aligned with `active` ----------------------------------------------------------

    def column(self, name: str) -> Array:
        """Any column by name, aligned with `active`."""
        values: Array = getattr(self.columns, name).take(self.active)
        return values

    @property
    def gpus(self) -> Array:
        """GPUs that each job asks for."""
        return self.columns.gpus.take(self.active)

    @property
    def submit_s(self) -> Array:
        return self.columns.submit_s.take(self.active)

    @property
    def priority(self) -> Array:
        """Larger is more urgent."""
        return self.columns.priority.take(self.active)

    @property
    def held_gpus(self) -> Array:
        """GPUs that each job holds now; 0 for those that wait."""
        return self.columns.held_gpus.take(self.active)

    @property
    def running(self) -> Array:
        """Which jobs hold GPUs."""
        return self.columns.held_gpus.take(self.active) > 0

    def gpu_seconds(self) -> Array:
        """GPU time received: GPUs held, integrated over time, launch overheads included."""
        c, a = self.columns, self.active
        received: Array = self.now - c.held_since.take(a)
        received *= c.gpu_rate.take(a)
        received += c.held0.take(a)
        return received

    def run_s(self) -> Array:
        """Time received, whatever the number of GPUs."""
        c, a = self.columns, self.active
        received: Array = self.now - c.held_since.take(a)
        rate = c.gpu_rate.take(a)
        received *= rate if self.single_gpu else rate > 0
        received += c.run0.take(a)
        return received

    def done_s(self) -> Array:
        """Work done, in seconds of isolated run time."""
        c, a = self.columns, self.active
        done: Array = c.done0.take(a) + c.rate.take(a) * np.maximum(0.0, self.now - c.anchor.take(a))
        return done

    def remaining_s(self) -> Array:
        """Believed isolated run time still to go, never below 0."""
        left: Array = np.maximum(0.0, self.columns.expected_s.take(self.active) - self.done_s())
        return left

    def metric(self, name: str) -> Array:
        """An open metric (loss, gradient norm, ...) as last reported; nan where never reported."""
        return self._metric_column(name)[self.active]

    def report_metric(self, name: str, rows: Array, values: Array) -> None:
        """Stores what jobs report about themselves."""
        self._metric_column(name)[rows] = values

    # -- what policies remember, and randomness -------------------------------------------------------

    def memory(self, policy: object, factory: Callable[[], T]) -> T:
        """What `policy` remembers between rounds: the only thing that a policy may change."""
        known = self._known.get(id(policy))
        if known is None or known[0] is not policy:
            name = _policy_key(policy)
            if name not in self._memory:
                self._memory[name] = factory()
            known = self._known[id(policy)] = (policy, self._memory[name])
        return known[1]  # type: ignore[no-any-return]

    def rng(self, policy: object) -> np.random.Generator:
        """Random numbers for this policy in this round: the same whether or not rounds were skipped.

        Another policy, or other parameters, draw others; a name in its place draws the same for all who give
        it, so that runs differ by what a parameter does and not by luck.
        """
        moment = int(np.float64(self.now).view(np.uint64))
        key = (zlib.crc32(_policy_key(policy).encode()), moment & 0xFFFFFFFF, moment >> 32)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def fork(self) -> JobState:
        """An independent copy: whatever happens to it, this one stays as it is."""
        twin = copy.copy(self)
        twin.columns = Columns()
        for name in _ALL_COLUMNS:
            setattr(twin.columns, name, getattr(self.columns, name)[: self._staged].copy())
        twin.active = twin._room = self.active.copy()
        twin.waiting = self.waiting.copy()
        twin.starts = self.starts.copy()
        twin._metrics = {name: values.copy() for name, values in self._metrics.items()}
        twin._memory, twin._known = copy.deepcopy(self._memory), {}
        return twin

    def _metric_column(self, name: str) -> Array:
        size = len(self.columns.gpus)
        values = self._metrics.get(name, np.empty(0))
        if len(values) < size:
            grown = np.full(size, NAN)
            grown[: len(values)] = values
            self._metrics[name] = values = grown
        return values

    def _grow(self, needed: int) -> None:
        size = len(self.columns.gpus)
        if needed <= size:
            return
        size = max(needed, 2 * size, 256)
        for name, (dtype, default) in _ALL_COLUMNS.items():
            grown = np.full(size, default if default is not None else 0, dtype=dtype)
            old = getattr(self.columns, name)
            grown[: self._staged] = old[: self._staged]
            setattr(self.columns, name, grown)
        self._rows = np.arange(size)
        self._rows.flags.writeable = False


def one_or_all(rows: Array) -> Any:
    """What to index columns with: one row as a plain number, which numpy handles several times faster."""
    return rows.item() if len(rows) == 1 else rows


def each(value: Array | float, rows: Array) -> Iterable[float]:
    """One value for every row."""
    if type(value) is float:
        return repeat(value)
    return value.tolist() if np.ndim(value) else repeat(float(value))  # type: ignore[union-attr]


def _policy_key(policy: object) -> str:
    """Names a policy by its class, verbs and parameters: the same in every folder, on every machine."""
    if isinstance(policy, str):
        return policy
    cls = type(policy)
    verbs = [verb for verb in ("accept", "schedule", "place", "terminate") if hasattr(cls, verb)]
    told = repr(policy)
    return f"{cls.__qualname__}.{'.'.join(verbs)} {'' if ' object at 0x' in told else told}"
