"""Allocation: which job holds which GPUs. Plan: how to get from one allocation to another.

Preemption is derived, never returned by a policy: `Plan.diff(now, wanted)` sorts the jobs into launch,
suspend, move, adjust and keep, so that no policy can hand back an inconsistent pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blox.workloads.table import Array

NO_ROWS: Array = np.empty(0, dtype=np.int64)


class Allocation:
    """Jobs (rows, each once), the number of GPUs of each, and all GPU ids, grouped job by job.

    The optional columns say how the GPUs are held where that is not the whole of each: thousandths of
    each GPU, CPU cores, memory, the configuration (batch size) and the group of jobs that share.
    `blocked`: a strict order ended the walk before everybody was placed. `settled`: the placement vouches
    that, asked again at once, it would change nothing.

    Treat it as a value: never change one. (A plain class because several are made every round.)
    """

    __slots__ = (
        "added",
        "base",
        "blocked",
        "config",
        "counts",
        "cpu",
        "freed",
        "gpus",
        "jobs",
        "memory_gb",
        "moved",
        "removed",
        "settled",
        "share_group",
        "share_milli",
    )

    def __init__(
        self,
        jobs: Array = NO_ROWS,
        counts: Array = NO_ROWS,
        gpus: Array = NO_ROWS,
        share_milli: Array | None = None,
        cpu: Array | None = None,
        memory_gb: Array | None = None,
        config: Array | None = None,
        share_group: Array | None = None,
        *,
        blocked: bool = False,
        settled: bool = False,
        base: Allocation | None = None,
        removed: Array = NO_ROWS,
        freed: Array = NO_ROWS,
        added: int = 0,
        moved: int = 0,
    ) -> None:
        self.jobs, self.counts, self.gpus = jobs, counts, gpus
        self.share_milli, self.cpu, self.memory_gb = share_milli, cpu, memory_gb
        self.config, self.share_group = config, share_group
        self.blocked, self.settled = blocked, settled
        # How this allocation came out of an earlier one: spares diff() the comparison. Never required.
        self.base = base
        self.removed = removed  # jobs of the base that hold nothing any more
        self.freed = freed  # GPU ids that they, and jobs that moved, gave up
        self.added = added  # the last jobs are new on their GPUs,
        self.moved = moved  # and the last of these held others before

    def detached(self) -> Allocation:
        """The same allocation without its history, so that history does not pile up."""
        return Allocation(self.jobs, self.counts, self.gpus, *self.grants(), blocked=self.blocked)

    def unchanged(self, *, blocked: bool) -> Allocation:
        """The same allocation as the outcome of another placement."""
        return Allocation(self.jobs, self.counts, self.gpus, *self.grants(), blocked=blocked, settled=True, base=self)

    def gpus_of(self, job: int) -> Array:
        """The GPU ids of one job; empty if it holds none."""
        where = np.flatnonzero(self.jobs == job)
        if not len(where):
            return NO_ROWS
        stop = int(self.counts[: where[0] + 1].sum())
        return self.gpus[stop - int(self.counts[where[0]]) : stop]

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

    def without(self, leave: Array, *, blocked: bool = False, settled: bool = False) -> Allocation:
        """The same without the jobs where the mask `leave` (aligned with `jobs`) is true."""
        stay = ~leave
        stay_gpus = stay if len(self.gpus) == len(self.jobs) else np.repeat(stay, self.counts)
        return Allocation(
            self.jobs[stay],
            self.counts[stay],
            self.gpus[stay_gpus],
            *(None if column is None else column[stay] for column in self.grants()),
            blocked=blocked,
            settled=settled,
            base=self,
            removed=self.jobs[leave],
            freed=self.gpus[~stay_gpus],
        )

    def changed(
        self,
        leave: Array | None,
        jobs: Array,
        counts: Array,
        gpus: Array,
        *,
        moved: int = 0,
        blocked: bool = False,
        settled: bool = False,
    ) -> Allocation:
        """Without the jobs of the mask `leave`, and with `jobs` on `gpus` behind them.

        The last `moved` of `jobs` are among those that leave: they change places. For whole-GPU
        allocations only.
        """
        kept = self if leave is None else self.without(leave)
        removed = NO_ROWS if leave is None else kept.removed
        if moved:
            removed = removed[~np.isin(removed, jobs[-moved:])]
        return Allocation(
            np.concatenate((kept.jobs, jobs)),
            np.concatenate((kept.counts, counts)),
            np.concatenate((kept.gpus, gpus)),
            blocked=blocked,
            settled=settled,
            base=self,
            removed=removed,
            freed=NO_ROWS if leave is None else kept.freed,
            added=len(jobs),
            moved=moved,
        )

    def select(self, which: Array) -> Allocation:
        """The jobs where the mask is true."""
        return Allocation(
            self.jobs[which],
            self.counts[which],
            self.gpus[np.repeat(which, self.counts)],
            *(None if column is None else column[which] for column in self.grants()),
        )

    def grants(self) -> tuple[Array | None, ...]:
        """The optional columns."""
        return (self.share_milli, self.cpu, self.memory_gb, self.config, self.share_group)


@dataclass(eq=False)
class Plan:
    """What has to happen so that `wanted` holds. Every job is in one of five parts.

    launch: was not running, starts. suspend: runs, must stop. move: stops and starts on other GPUs.
    adjust: same GPUs, another grant (no restart). keep: nothing changes. `freed` are the GPU ids that
    suspended and moving jobs give up.
    """

    wanted: Allocation
    launch: Allocation
    suspend: Array
    move: Allocation
    adjust: Allocation
    freed: Array

    @cached_property
    def keep(self) -> Array:
        """Jobs for which nothing changes."""
        touched = np.concatenate((self.launch.jobs, self.move.jobs, self.adjust.jobs))
        return np.setdiff1d(self.wanted.jobs, touched)

    @property
    def empty(self) -> bool:
        return not (len(self.launch.jobs) or len(self.suspend) or len(self.move.jobs) or len(self.adjust.jobs))

    def __iter__(self) -> Iterator[Any]:
        """Unpacks into the paper's pair (to_launch, to_suspend); a job that moves is in both."""
        yield {**self.launch.as_dict(), **self.move.as_dict()}
        yield [*self.suspend.tolist(), *self.move.jobs.tolist()]

    @staticmethod
    def diff(now: Allocation, wanted: Allocation) -> Plan:
        """The plan from `now` to `wanted`."""
        if wanted is now:
            return Plan(wanted, NOTHING, NO_ROWS, NOTHING, NOTHING, NO_ROWS)
        if wanted.base is now:
            if not wanted.added:
                return Plan(wanted, NOTHING, wanted.removed, NOTHING, NOTHING, wanted.freed)
            stays = len(wanted.jobs) - wanted.added
            launches = wanted.added - wanted.moved
            launch = _slice(wanted, stays, stays + launches)
            move = _slice(wanted, stays + launches, len(wanted.jobs))
            return Plan(wanted, launch, wanted.removed, move, NOTHING, wanted.freed)
        return _compare(now, wanted)


NOTHING = Allocation()


def _slice(allocation: Allocation, start: int, stop: int) -> Allocation:
    """Jobs `start` to `stop`, counted from the end of the GPU list, where the new ones stand."""
    if start == stop:
        return NOTHING
    if stop == len(allocation.jobs):
        first_from_end = int(allocation.counts[start:].sum())
        gpus = allocation.gpus[len(allocation.gpus) - first_from_end :]
    else:
        behind = int(allocation.counts[stop:].sum())
        last = len(allocation.gpus) - behind
        gpus = allocation.gpus[last - int(allocation.counts[start:stop].sum()) : last]
    return Allocation(allocation.jobs[start:stop], allocation.counts[start:stop], gpus)


def _compare(now: Allocation, wanted: Allocation) -> Plan:
    """Partition by full comparison, for allocations that were not derived from one another."""
    fresh = ~np.isin(wanted.jobs, now.jobs)
    old, new = now.as_dict(), wanted.as_dict()
    old_grants = {int(job): _grant(now, i) for i, job in enumerate(now.jobs)}
    moved = np.zeros(len(wanted.jobs), dtype=bool)
    adjusted = np.zeros(len(wanted.jobs), dtype=bool)
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
    defaults = (1000.0, -1.0, -1.0, -1.0, -1.0)
    return tuple(d if c is None else float(c[index]) for c, d in zip(columns, defaults))
