"""Allocation: which job holds which GPUs. Plan: what has to change. Both are immutable.

Preemption is derived, never returned by a policy: `Plan.diff(now, wanted)` sorts the jobs into launch,
suspend, move, adjust and keep, so that no policy can return an inconsistent pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from blox.state.columns import read_only
from blox.workloads.table import Array

NO_ROWS: Array = np.empty(0, dtype=np.int64)
# The optional columns of an allocation, each with its default.
GRANTS = {"share_milli": 1000.0, "cpu": -1.0, "memory_gb": -1.0, "config": -1.0, "share_group": -1.0}
_GPU_BITS = 32  # GPU ids are far below 2**32


class Allocation(msgspec.Struct, frozen=True, eq=False):
    """Jobs (rows, each once), the number of GPUs of each, and all GPU ids, grouped job by job.

    The optional columns, aligned with `jobs`, are the grants besides whole GPUs: thousandths of each GPU, CPU
    cores, memory, the configuration (batch size), and `share_group`, the row of the job that shares all its
    GPUs (-1: none).
    """

    jobs: Array = NO_ROWS
    counts: Array = NO_ROWS
    gpus: Array = NO_ROWS
    share_milli: Array | None = None
    cpu: Array | None = None
    memory_gb: Array | None = None
    config: Array | None = None
    share_group: Array | None = None

    @property
    def size(self) -> int:
        """Number of jobs that hold GPUs."""
        return len(self.jobs)

    @property
    def bare(self) -> bool:
        """Whether no optional column is in use."""
        return self.config is self.cpu is self.memory_gb is self.share_group is self.share_milli is None

    def grants(self) -> dict[str, Array]:
        """The optional columns that are in use."""
        columns = {name: getattr(self, name) for name in GRANTS}
        return {name: column for name, column in columns.items() if column is not None}

    def gpus_of(self, job: int) -> Array:
        """The GPU ids of one job; empty if it holds none."""
        return self.gpus.compress(np.repeat(self.jobs == job, self.counts))

    def as_dict(self) -> dict[int, tuple[int, ...]]:
        """Row -> GPU ids."""
        gpus, ends = self.gpus.tolist(), np.cumsum(self.counts).tolist()
        return {
            job: tuple(gpus[end - count : end])
            for job, count, end in zip(self.jobs.tolist(), self.counts.tolist(), ends)
        }

    @classmethod
    def from_dict(cls, gpus_of: dict[int, tuple[int, ...]]) -> Allocation:
        """The allocation of a mapping row -> GPU ids."""
        rows = np.array(list(gpus_of), dtype=np.int64)
        counts = np.array([len(ids) for ids in gpus_of.values()], dtype=np.int64)
        gpus = np.array([g for ids in gpus_of.values() for g in ids], dtype=np.int64)
        return cls(rows, counts, gpus)

    def sealed(self) -> Allocation:
        """The same in arrays of its own that cannot be written to: a policy may use its arrays again."""
        if self is NOTHING:
            return self
        rows = {name: _own(getattr(self, name), np.int64) for name in ("jobs", "counts", "gpus")}
        return replace(self, **rows, **{name: _own(column) for name, column in self.grants().items()})

    def select(self, which: Array) -> Allocation:
        """The jobs where the mask is true."""
        columns = {name: column[which] for name, column in self.grants().items()}
        gpus = self.gpus[np.repeat(which, self.counts)]
        return Allocation(self.jobs[which], self.counts[which], gpus, **columns)

    def without(self, rows: Array) -> Allocation:
        """The allocation after these jobs release their GPUs; their partners then share with no job."""
        left = self.select(~np.isin(self.jobs, rows))
        if left.share_group is None:
            return left
        return replace(left, share_group=np.where(np.isin(left.share_group, rows), -1, left.share_group))

    def sharing_with(self, rows: Array) -> Array:
        """These jobs and the jobs that share GPUs with them, ascending."""
        if self.share_group is None:
            return rows
        return np.union1d(rows, self.jobs[np.isin(self.share_group, rows)])


NOTHING = Allocation()


class Plan(msgspec.Struct, frozen=True, eq=False):
    """The changes of one round. Every job is in at most one part.

    launch: waits, starts. suspend: runs, stops. move: stops and starts on other GPUs. adjust: keeps its GPUs,
    gets another grant (no restart). All other running jobs are kept. `freed`: the GPU ids that suspended and
    moving jobs give up. `blocked`: a strict order ended the walk before every job was placed. `settled`: the
    placement guarantees that a second call at once would change nothing. `wanted`: the whole allocation
    afterwards, if the plan was made by comparison with one (`diff`)."""

    launch: Allocation = NOTHING
    suspend: Array = NO_ROWS
    move: Allocation = NOTHING
    adjust: Allocation = NOTHING
    freed: Array = NO_ROWS
    blocked: bool = False
    settled: bool = False
    wanted: Allocation | None = None

    @property
    def empty(self) -> bool:
        if len(self.launch.jobs) or len(self.suspend):
            return False
        return not (len(self.move.jobs) or len(self.adjust.jobs))

    @property
    def bare(self) -> bool:
        """Whether it grants whole GPUs and nothing else."""
        return self.adjust is NOTHING and self.launch.bare and (self.move is NOTHING or self.move.bare)

    def sealed(self) -> Plan:
        """The same in arrays of its own, like `Allocation.sealed`."""
        parts = {name: getattr(self, name).sealed() for name in ("launch", "move", "adjust")}
        rows = {name: _own(getattr(self, name), np.int64) for name in ("suspend", "freed")}
        return replace(self, **parts, **rows)

    def keep(self, now: Allocation) -> Array:
        """The jobs that this plan does not change; `now` is the allocation before it."""
        return np.setdiff1d(now.jobs, np.concatenate((self.suspend, self.move.jobs, self.adjust.jobs)))

    def outcome(self, now: Allocation) -> Allocation:
        """The allocation after this plan; `now` is the allocation before it."""
        if self.wanted is not None:
            return self.wanted
        stays = now.without(np.concatenate((self.suspend, self.move.jobs)))
        parts = (stays, self.launch, self.move)
        jobs, counts, gpus = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("jobs", "counts", "gpus")
        )
        gpus = gpus[np.lexsort((gpus, np.repeat(np.arange(len(jobs)), counts)))]
        columns: dict[str, Any] = {}
        for name in {name for part in (*parts, self.adjust) for name in part.grants()}:
            columns[name] = np.concatenate([_column(part, name) for part in parts])
            adjusted = self.adjust.grants().get(name)
            if adjusted is not None:
                columns[name][np.argsort(jobs)[np.searchsorted(np.sort(jobs), self.adjust.jobs)]] = adjusted
        return Allocation(jobs, counts, gpus, **columns)

    def __iter__(self) -> Iterator[Any]:
        """Unpacks into the paper's pair (to_launch, to_suspend); a job that moves is in both."""
        yield {**self.launch.as_dict(), **self.move.as_dict()}
        yield [*self.suspend.tolist(), *self.move.jobs.tolist()]

    @classmethod
    def of(
        cls,
        gone: Array,
        freed: Array,
        placed: Allocation = NOTHING,
        *,
        blocked: bool = False,
        settled: bool = False,
    ) -> Plan:
        """The plan by which rows give up their GPUs and jobs are placed.

        `gone`: rows that give up their GPUs (`freed`). `placed`: grants. A row in both moves. A plan in which
        a job moves is never settled."""
        if len(gone) and len(placed.jobs):
            last = max(gone.item(gone.argmax()), placed.jobs.item(placed.jobs.argmax()))
            is_gone = np.zeros(last + 1, dtype=bool)
            is_gone[gone] = True
            moves = is_gone[placed.jobs]
            if moves.any():
                launch, move = placed.select(~moves), placed.select(moves)
                is_gone[move.jobs] = False
                return cls(launch, gone[is_gone[gone]], move, NOTHING, freed, blocked)
        return cls(placed, gone, NOTHING, NOTHING, freed, blocked, settled)

    @staticmethod
    def diff(now: Allocation, wanted: Allocation | Plan, *, blocked: bool = False) -> Plan:
        """The plan from `now` to `wanted`; if `wanted` is a plan already, returns it."""
        if isinstance(wanted, Plan):
            return wanted
        if wanted is now:
            return Plan(settled=True, blocked=blocked)
        wanted = wanted.sealed()
        known = np.isin(wanted.jobs, now.jobs)
        moved = known & np.isin(wanted.jobs, np.setxor1d(_pairs(now), _pairs(wanted)) >> _GPU_BITS)
        adjusted = known & ~moved & _regranted(now, wanted)
        suspend = np.setdiff1d(now.jobs, wanted.jobs)
        leaving = np.isin(now.jobs, np.concatenate((suspend, wanted.jobs[moved])))
        return Plan(
            launch=wanted.select(~known),
            suspend=suspend,
            move=wanted.select(moved),
            adjust=wanted.select(adjusted),
            freed=now.gpus[np.repeat(leaving, now.counts)],
            blocked=blocked,
            wanted=wanted,
        )

    def granting(self, now: Allocation, **columns: dict[int, float]) -> Plan:
        """The same plan with grants (column: row -> value) for every job that holds GPUs afterwards.

        A job whose GPUs stay and whose grant differs from that in `now` is adjusted.
        """
        stays = now.select(~np.isin(now.jobs, np.concatenate((self.suspend, self.move.jobs))))

        def granted(part: Allocation) -> Allocation:
            rows = part.jobs.tolist()
            return replace(part, **{name: np.array([of[r] for r in rows]) for name, of in columns.items()})

        wanted = granted(stays)
        return replace(
            self,
            launch=granted(self.launch),
            move=granted(self.move),
            adjust=wanted.select(_regranted(now, wanted)),
        )


UNCHANGED = Plan(settled=True)  # every job keeps what it has, and asking again at once changes nothing


def _own(column: Array, dtype: Any = None) -> Array:
    return read_only(np.array(column, dtype))


def _column(part: Allocation, name: str) -> Array:
    column: Array | None = getattr(part, name)
    return np.full(len(part.jobs), GRANTS[name]) if column is None else column


def _pairs(allocation: Allocation) -> Array:
    """One number for each pair of a job and a GPU that it holds."""
    pairs: Array = np.repeat(allocation.jobs.astype(np.int64), allocation.counts)
    pairs <<= _GPU_BITS
    pairs |= allocation.gpus
    return pairs


def _regranted(now: Allocation, wanted: Allocation) -> Array:
    """Mask over `wanted.jobs`: the grant differs from that in `now`. Undefined for jobs not in `now`."""
    differs = np.zeros(len(wanted.jobs), dtype=bool)
    names = now.grants().keys() | wanted.grants().keys()
    if not names or not len(now.jobs):
        return differs
    order = np.argsort(now.jobs)
    place = order[np.minimum(np.searchsorted(now.jobs[order], wanted.jobs), len(order) - 1)]
    for name in names:
        differs |= _column(now, name)[place] != _column(wanted, name)
    return differs
