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
_GRANTS = {"share_milli": 1000.0, "cpu": -1.0, "memory_gb": -1.0, "config": -1.0, "share_group": -1.0}  # defaults


class Allocation:
    """Jobs (rows, each once), the number of GPUs of each, and all GPU ids, grouped job by job.

    The optional columns say how the GPUs are held where that is not the whole of each: thousandths of
    each GPU, CPU cores, memory, the configuration (batch size) and the group of jobs that share.
    `blocked`: a strict order ended the walk before everybody was placed. `settled`: the placement vouches
    that, asked again at once, it would change nothing.

    Treat it as a value: never change one. (A plain class because several are made every round.)
    """

    __slots__ = (
        "base",
        "blocked",
        "config",
        "counts",
        "cpu",
        "freed",
        "gpus",
        "jobs",
        "memory_gb",
        "launched",
        "moved",
        "plain",
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
        launched: Allocation | None = None,
        moved: Allocation | None = None,
    ) -> None:
        self.jobs, self.counts, self.gpus = jobs, counts, gpus
        self.share_milli, self.cpu, self.memory_gb = share_milli, cpu, memory_gb
        self.config, self.share_group = config, share_group
        self.plain = share_milli is cpu is memory_gb is config is share_group is None  # nothing but whole GPUs
        self.blocked, self.settled = blocked, settled
        # How this allocation came out of an earlier one: spares diff() the comparison. Never required.
        self.base = base
        self.removed = removed  # jobs of the base that hold nothing any more
        self.freed = freed  # GPU ids that they, and jobs that moved, gave up
        self.launched = launched  # jobs that are new,
        self.moved = moved  # and those that held other GPUs before

    def forget(self) -> Allocation:
        """The same allocation without its history, so that history does not pile up."""
        self.base = self.launched = self.moved = None
        self.removed = self.freed = NO_ROWS
        return self

    def unchanged(self, *, blocked: bool) -> Allocation:
        """The same allocation as the outcome of another placement."""
        twin = self._copy(blocked)
        twin.settled, twin.base = True, self
        return twin

    def _copy(self, blocked: bool) -> Allocation:
        twin = Allocation(self.jobs, self.counts, self.gpus, blocked=blocked)
        twin._adopt(self.grants())
        return twin

    def _adopt(self, grants: dict[str, Array]) -> None:
        for name, column in grants.items():
            setattr(self, name, column)
            self.plain = False

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
        leave_gpus = leave if len(self.gpus) == len(self.jobs) else np.repeat(leave, self.counts)
        stay = (~leave).nonzero()[0]
        stay_gpus = stay if leave_gpus is leave else (~leave_gpus).nonzero()[0]
        kept = Allocation(
            self.jobs.take(stay),
            self.counts.take(stay),
            self.gpus.take(stay_gpus),
            blocked=blocked,
            settled=settled,
            base=self,
            removed=self.jobs[leave],
            freed=self.gpus[leave_gpus],
        )
        kept._adopt({name: column[stay] for name, column in self.grants().items()})
        return kept

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
        outcome = Allocation(
            np.concatenate((kept.jobs, jobs)),
            np.concatenate((kept.counts, counts)),
            np.concatenate((kept.gpus, gpus)),
            blocked=blocked,
            settled=settled,
            base=self,
        )
        if leave is not None:
            outcome.removed, outcome.freed = kept.removed, kept.freed
        if not moved:
            outcome.launched = Allocation(jobs, counts, gpus)
            return outcome
        moving = np.zeros(len(jobs), dtype=bool)
        moving[-moved:] = True
        new = Allocation(jobs, counts, gpus)
        outcome.launched, outcome.moved = new.select(~moving), new.select(moving)
        outcome.removed = outcome.removed[~np.isin(outcome.removed, jobs[-moved:])]
        return outcome

    def select(self, which: Array) -> Allocation:
        """The jobs where the mask is true."""
        chosen = Allocation(self.jobs[which], self.counts[which], self.gpus[np.repeat(which, self.counts)])
        chosen._adopt({name: column[which] for name, column in self.grants().items()})
        return chosen

    def grants(self) -> dict[str, Array]:
        """The optional columns that are in use."""
        if self.plain:
            return {}
        columns = {name: getattr(self, name) for name in _GRANTS}
        return {name: column for name, column in columns.items() if column is not None}


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
            launch, move = wanted.launched or NOTHING, wanted.moved or NOTHING
            return Plan(wanted, launch, wanted.removed, move, NOTHING, wanted.freed)
        return _compare(now, wanted)


NOTHING = Allocation()


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
    return tuple(float(columns[name][index]) if name in columns else default for name, default in _GRANTS.items())
