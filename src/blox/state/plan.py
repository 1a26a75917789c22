"""Allocation: which job holds which GPUs. Plan: how to get from one allocation to another.

Preemption is derived, never returned by a policy: `Plan.diff(now, wanted)` sorts the jobs into launch,
suspend, move, adjust and keep, so that no policy can hand back an inconsistent pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.state.ledger import Ledger
from blox.workloads.table import Array

NO_ROWS: Array = np.empty(0, dtype=np.int64)
_GRANTS = {
    "share_milli": 1000.0,
    "cpu": -1.0,
    "memory_gb": -1.0,
    "config": -1.0,
    "share_group": -1.0,
}  # defaults
_NO_GRANTS: Mapping[str, Array] = {}
_TOO_LATE = "another allocation has been carried out since: copy what you need before"


def _checked_grants(grants: dict[str, Array | None]) -> dict[str, Array]:
    unknown = grants.keys() - _GRANTS.keys()
    if unknown:
        raise TypeError(f"an allocation has no column {unknown.pop()!r}; it has {', '.join(_GRANTS)}")
    return {name: column for name, column in grants.items() if column is not None}


class Allocation:
    """Jobs (rows, each once), the number of GPUs of each, and all GPU ids, grouped job by job.

    The optional columns say how the GPUs are held where that is not the whole of each: thousandths of
    each GPU, CPU cores, memory, the configuration (batch size) and the job that shares them (`sharing.py`).
    `blocked`: a strict order ended the walk before everybody was placed. `settled`: the placement vouches
    that, asked again at once, it would change nothing.

    Treat it as a value: never change one. The allocation that holds now has the cluster's `ledger`; one that
    came out of a Draft knows how it differs from that. Jobs, counts and GPU ids are then worked out when
    asked for; `size` and `used`, how many jobs and GPUs there are, are known. Once the next allocation has
    been carried out, nothing is left of this one but what has been asked for.
    """

    size: int = 0  # jobs
    used: int = 0  # GPUs held
    blocked: bool = False
    settled: bool = False
    ledger: Ledger | None = None
    plan: Plan | None = None  # how it came out of an earlier one, if that is known
    _jobs: Array | None = None
    _counts: Array | None = None
    _gpus: Array | None = None
    _grants: Mapping[str, Array] = _NO_GRANTS

    def __init__(
        self,
        jobs: Array = NO_ROWS,
        counts: Array | None = NO_ROWS,
        gpus: Array | None = NO_ROWS,
        *,
        used: int | None = None,
        blocked: bool = False,
        settled: bool = False,
        **grants: Array | None,
    ) -> None:
        self._jobs, self._counts, self._gpus = jobs, counts, gpus
        self.size, self.used = len(jobs), used or 0
        if used is None and gpus is not None:
            self.used = len(gpus)
        self.blocked, self.settled = blocked, settled
        if grants:
            self._grants = _checked_grants(grants)

    @property
    def jobs(self) -> Array:
        """The rows that hold GPUs."""
        if self._jobs is None:
            self._jobs = self._members()
        return self._jobs

    @property
    def counts(self) -> Array:
        """GPUs of each job, aligned with `jobs`."""
        if self._counts is None:
            self._group()
        return self._counts  # type: ignore[return-value]

    @property
    def gpus(self) -> Array:
        """GPU ids, grouped in the order of `jobs`."""
        if self._gpus is None:
            self._group()
        return self._gpus  # type: ignore[return-value]

    @property
    def share_milli(self) -> Array | None:
        return self._grants.get("share_milli")

    @property
    def cpu(self) -> Array | None:
        return self._grants.get("cpu")

    @property
    def memory_gb(self) -> Array | None:
        return self._grants.get("memory_gb")

    @property
    def config(self) -> Array | None:
        return self._grants.get("config")

    @property
    def share_group(self) -> Array | None:
        return self._grants.get("share_group")

    @property
    def owner(self) -> Array | None:
        """The row that holds each GPU (-1: nobody), where a cluster is known. Do not change it."""
        if self.ledger is not None:
            return self.ledger.owner
        plan = self.plan
        if plan is None or plan.base is None or plan.base.owner is None:
            return None
        owner = plan.base.owner.copy()
        owner[plan.freed] = -1
        for new in (plan.launch, plan.move):
            owner[new.gpus] = np.repeat(new.jobs, new.counts)
        return owner

    def came_from(self, now: Allocation) -> bool:
        """Whether it is known how it differs from `now`."""
        return self.plan is not None and self.plan.base is now

    def is_still(self, now: Allocation) -> bool:
        """Whether it is `now`, or came from it with nothing changed."""
        return self is now or (self.plan is not None and self.plan.base is now and self.plan.empty)

    def gpus_of(self, job: int) -> Array:
        """The GPU ids of one job; empty if it holds none."""
        if self.ledger is not None:
            return self.ledger.gpus_of(job)
        where = (self.jobs == job).nonzero()[0]
        if not len(where):
            return NO_ROWS
        stop = int(self.counts[: where[0] + 1].sum())
        return self.gpus[stop - int(self.counts[where[0]]) : stop]

    def beside(self, rows: Array) -> Array:
        """These jobs, and those who share GPUs with them (`sharing.py`)."""
        return rows

    def as_dict(self) -> dict[int, tuple[int, ...]]:
        """Row -> GPU ids, for people and tests."""
        pieces = np.split(self.gpus, np.cumsum(self.counts)[:-1]) if len(self.jobs) else []
        return {int(job): tuple(int(g) for g in piece) for job, piece in zip(self.jobs, pieces)}

    @classmethod
    def from_dict(cls, gpus_of: dict[int, tuple[int, ...]]) -> Allocation:
        """The allocation in which each row holds the GPU ids given."""
        rows = np.array(list(gpus_of), dtype=np.int64)
        counts = np.array([len(ids) for ids in gpus_of.values()], dtype=np.int64)
        gpus = np.array([g for ids in gpus_of.values() for g in ids], dtype=np.int64)
        return cls(rows, counts, gpus)

    def with_ledger(self, ledger: Ledger) -> Allocation:
        """The same allocation, entered in a ledger of its own."""
        used = int((ledger.owner >= 0).sum())  # jobs that share a GPU count it once
        twin = _listed(self.jobs, self._counts, self._gpus, self.size, used)
        twin.blocked, twin.settled = self.blocked, self.settled
        twin._grants, twin.ledger = self._grants, ledger
        return twin

    def unchanged(self, *, blocked: bool) -> Allocation:
        """The same allocation as the outcome of another placement."""
        if blocked == self.blocked:
            return self
        twin = _listed(self._jobs, self._counts, self._gpus, self.size, self.used)
        twin.blocked, twin.settled = blocked, True
        twin._grants = self._grants
        twin.plan = Plan(twin, NOTHING, NO_ROWS, NOTHING, NOTHING, NO_ROWS, self)
        return twin

    def with_more(self, jobs: Array, counts: Array, gpus: Array, bound: int) -> Allocation:
        """The same allocation and these jobs, on GPUs that are free; it is settled."""
        if self._grants:
            draft = Draft(self, bound)
            draft.add(jobs, counts, gpus)
            return draft.outcome(settled=True)
        launch = _grants_of(jobs, counts, gpus)
        wanted = Allocation.__new__(Allocation)
        wanted.size, wanted.used, wanted.settled = self.size + launch.size, self.used + launch.used, True
        wanted.plan = Plan(wanted, launch, NO_ROWS, NOTHING, NOTHING, NO_ROWS, self)
        return wanted

    def without(self, rows: Array, bound: int) -> Allocation:
        """The same allocation once these rows have given up what they hold; it takes over the ledger."""
        if self._grants:
            draft = Draft(self, bound)
            draft.remove(rows)
            return draft.outcome(blocked=self.blocked).take_over()
        ledger, self.ledger = self.ledger, None
        assert ledger is not None
        if len(rows) == 1:
            freed = ledger.release_one(rows.item())
        else:
            gpus = ledger.held_by(rows, bound)
            freed = len(gpus)
            ledger.release(rows, gpus)
        left = Allocation.__new__(Allocation)
        left.size, left.used, left.ledger = self.size - len(rows), self.used - freed, ledger
        if self.blocked:
            left.blocked = True
        return left

    def take_over(self) -> Allocation:
        """Enters how this differs from its base into the base's ledger, and keeps that. Its past is over."""
        plan = self.plan
        assert plan is not None and plan.base is not None
        ledger, plan.base.ledger = plan.base.ledger, None
        assert ledger is not None
        launch, move, leaving = plan.launch, plan.move, plan.suspend
        if move.size:
            leaving = np.concatenate((leaving, move.jobs))
        if len(leaving):
            ledger.release(leaving, plan.freed)
        if launch.size:
            ledger.occupy(launch.jobs, launch.counts, launch.gpus)
        if move.size:
            ledger.occupy(move.jobs, move.counts, move.gpus)
        self.ledger, self.plan = ledger, None
        return self

    def select(self, which: Array) -> Allocation:
        """The jobs where the mask is true."""
        chosen = Allocation(self.jobs[which], self.counts[which], self.gpus[np.repeat(which, self.counts)])
        chosen._grants = {name: column[which] for name, column in self._grants.items()}
        return chosen

    def grants(self) -> Mapping[str, Array]:
        """The optional columns that are in use."""
        return self._grants

    def _members(self) -> Array:
        if self.ledger is not None:
            return self.ledger.jobs
        plan = self.plan
        assert plan is not None and plan.base is not None, _TOO_LATE
        jobs = plan.base.jobs
        if len(plan.suspend) or plan.move.size:
            jobs = jobs[~np.isin(jobs, np.concatenate((plan.suspend, plan.move.jobs)))]
        return np.concatenate((jobs, plan.launch.jobs, plan.move.jobs))

    def _group(self) -> None:
        jobs, owner = self.jobs, self.owner
        assert owner is not None, _TOO_LATE
        held = (owner >= 0).nonzero()[0]
        owners = owner[held]
        rank = np.empty(int(jobs.max(initial=-1)) + 1, dtype=np.int64)
        rank[jobs] = np.arange(len(jobs))
        place = rank[owners]
        self._gpus = held[np.argsort(place, kind="stable")]
        self._counts = np.bincount(place, minlength=len(jobs))


def _listed(jobs: Array | None, counts: Array | None, gpus: Array | None, size: int, used: int) -> Allocation:
    """An allocation of so many jobs and GPUs, of which some columns may not be listed."""
    found = Allocation.__new__(Allocation)
    found._jobs, found._counts, found._gpus, found.size, found.used = jobs, counts, gpus, size, used
    return found


def _grants_of(jobs: Array, counts: Array, gpus: Array) -> Allocation:
    """What jobs get that start or move."""
    if gpus.base is not None:
        gpus = gpus.copy()  # not all that were free
    return _listed(jobs, counts, gpus, len(jobs), len(gpus))


NOTHING = Allocation()


class Draft:
    """A new whole-GPU allocation in the making: take jobs off, put jobs on, then ask for the outcome."""

    __slots__ = ("_base", "_freed", "_launched", "_moved", "_removed", "_rows", "_size", "_used")

    def __init__(self, base: Allocation, rows: int) -> None:
        """`base` is the allocation that holds now; `rows` is a bound: every row number is below."""
        self._base, self._rows = base, rows
        self._size, self._used = base.size, base.used
        self._removed: Array = NO_ROWS
        self._freed: Array = NO_ROWS
        self._launched = self._moved = NOTHING

    def remove(self, rows: Array) -> Array:
        """Takes jobs off their GPUs; returns the GPU ids. Call it once, with all of them."""
        assert self._base.ledger is not None
        freed = self._base.ledger.held_by(rows, self._rows)
        self._size -= len(rows)
        self._used -= len(freed)
        self._removed, self._freed = rows, freed
        return freed

    @property
    def free_ids(self) -> Array:
        """The ids of the GPUs that are free once jobs have been removed, ascending."""
        assert self._base.ledger is not None
        return self._base.ledger.free_ids_after(self._freed)

    def lowest_free(self, count: int) -> Array:
        """The lowest so many of them."""
        assert self._base.ledger is not None
        return self._base.ledger.lowest_free(count, self._freed)

    def add(self, jobs: Array, counts: Array, gpus: Array) -> None:
        """Puts new jobs on GPUs, grouped job by job."""
        self._launched = self._put(jobs, counts, gpus)

    def move(self, jobs: Array, counts: Array, gpus: Array) -> None:
        """Puts jobs that were removed on other GPUs: they change places."""
        marked = np.zeros(self._rows, dtype=bool)
        marked[jobs] = True
        self._removed = self._removed[~marked.take(self._removed)]
        self._moved = self._put(jobs, counts, gpus)

    def outcome(self, *, blocked: bool = False, settled: bool = False) -> Allocation:
        """The new allocation, which knows how it differs from the one it came from."""
        wanted = Allocation.__new__(Allocation)
        wanted.size, wanted.used = self._size, self._used
        wanted.blocked, wanted.settled = blocked, settled
        wanted.plan = Plan(
            wanted, self._launched, self._removed, self._moved, NOTHING, self._freed, self._base
        )
        if self._base._grants:
            wanted._grants = self._inherited(wanted.jobs)
        return wanted

    def _inherited(self, jobs: Array) -> dict[str, Array]:
        """Who stays keeps its grant, who is new has the default."""
        grants = {}
        for name, column in self._base._grants.items():
            of_row = np.full(self._rows, _GRANTS[name])
            of_row[self._base.jobs] = column
            for new in (self._launched, self._moved):
                of_row[new.jobs] = _GRANTS[name]
            grants[name] = of_row[jobs]
        return grants

    def _put(self, jobs: Array, counts: Array, gpus: Array) -> Allocation:
        self._size += len(jobs)
        self._used += len(gpus)
        return _grants_of(jobs, counts, gpus)


@dataclass(eq=False, slots=True)
class Plan:
    """What has to happen so that `wanted` holds. Every job is in one of five parts.

    launch: was not running, starts. suspend: runs, must stop. move: stops and starts on other GPUs.
    adjust: same GPUs, another grant (no restart). keep: nothing changes. `freed` are the GPU ids that
    suspended and moving jobs give up. `base` is what holds before, where the plan was made with `wanted`.
    """

    wanted: Allocation
    launch: Allocation
    suspend: Array
    move: Allocation
    adjust: Allocation
    freed: Array
    base: Allocation | None = None

    @property
    def keep(self) -> Array:
        """Jobs for which nothing changes."""
        touched = np.concatenate((self.launch.jobs, self.move.jobs, self.adjust.jobs))
        return np.setdiff1d(self.wanted.jobs, touched)

    @property
    def empty(self) -> bool:
        return not (self.launch.size or len(self.suspend) or self.move.size or self.adjust.size)

    def __iter__(self) -> Iterator[Any]:
        """Unpacks into the paper's pair (to_launch, to_suspend); a job that moves is in both."""
        yield {**self.launch.as_dict(), **self.move.as_dict()}
        yield [*self.suspend.tolist(), *self.move.jobs.tolist()]

    @staticmethod
    def diff(now: Allocation, wanted: Allocation) -> Plan:
        """The plan from `now` to `wanted`."""
        if wanted is now:
            return Plan(wanted, NOTHING, NO_ROWS, NOTHING, NOTHING, NO_ROWS)
        plan = wanted.plan
        return plan if plan is not None and plan.base is now else _compare(now, wanted)


def _compare(now: Allocation, wanted: Allocation) -> Plan:
    """Partition by full comparison, for allocations that were not derived from one another."""
    fresh = ~np.isin(wanted.jobs, now.jobs)
    old, new = now.as_dict(), wanted.as_dict()
    old_grants = {int(job): _grant(now, i) for i, job in enumerate(now.jobs)}
    moved = np.zeros(wanted.size, dtype=bool)
    adjusted = np.zeros(wanted.size, dtype=bool)
    for index in np.flatnonzero(~fresh):
        job = int(wanted.jobs[index])
        if sorted(old[job]) != sorted(new[job]):
            moved[index] = True
        elif old_grants[job] != _grant(wanted, int(index)):
            adjusted[index] = True
    suspend = np.setdiff1d(now.jobs, wanted.jobs)
    give_up = [old[int(job)] for job in (*suspend, *wanted.jobs[moved])]
    freed = np.array([gpu for gpus in give_up for gpu in gpus], dtype=np.int64)
    return Plan(wanted, wanted.select(fresh), suspend, wanted.select(moved), wanted.select(adjusted), freed)


def _grant(allocation: Allocation, index: int) -> tuple[float, ...]:
    columns = allocation.grants()
    return tuple(
        float(columns[name][index]) if name in columns else default for name, default in _GRANTS.items()
    )
