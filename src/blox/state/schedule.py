"""Schedule: what a scheduling policy returns, an ordered table of jobs and what each is to get.

The plain priority list (FIFO, LAS) is the table with every column at its default. Sorting is lazy: a
placement that finds room for everybody never pays for the order of those who run already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.cluster import ClusterState
    from blox.state.fractions import TimeShares
    from blox.state.jobs import JobState


@dataclass(eq=False)
class Schedule:
    """Jobs to run, in the order of `keys` (first key first, ties by row); without keys, as they stand.

    Jobs that are not listed are suspended. `strict`: a job that does not fit ends the walk; otherwise
    it is passed over. `preempt`: running jobs later in the order may be displaced. The optional columns
    are aligned with `jobs`: GPUs granted (default: as many as asked for), GPU type, thousandths of each
    GPU, CPU cores, memory, configuration, the job that it shares its GPUs with (a row, -1: none), and pinned
    GPU ids for policies that place too.
    """

    jobs: Array
    keys: tuple[Array, ...] = ()
    strict: bool = False
    preempt: bool = True
    gpus: Array | None = None
    gpu_type: Array | None = None
    share_milli: Array | None = None
    cpu: Array | None = None
    memory_gb: Array | None = None
    config: Array | None = None
    share_group: Array | None = None
    pinned: Mapping[int, tuple[int, ...]] | None = None
    _order: Array | None = field(default=None, init=False, repr=False)

    @classmethod
    def ordered(
        cls,
        job_state: JobState,
        by: Array | tuple[Array, ...] = (),
        *,
        strict: bool = False,
        preempt: bool = True,
    ) -> Schedule:
        """Every active job, smallest key first; several keys as a tuple, the most important first."""
        keys = by if isinstance(by, tuple) else (by,)
        return cls(job_state.active, keys, strict, preempt)

    @classmethod
    def from_fractions(
        cls, job_state: JobState, cluster_state: ClusterState, shares: TimeShares, *, fill: bool = True
    ) -> Schedule:
        """The coming round of jobs that are to have parts of the time on GPU types (Gavel, OSDI'20).

        `shares` is what the policy remembers: the fractions that it wants, and the time received, which is
        booked here. Jobs, or pairs of jobs that share their GPUs, run in order of their priority: wanted
        fraction over received fraction. `fill` is work conserving: GPUs that would idle go to jobs that were
        not chosen, on the type where they are fastest. Who stays on its GPU type keeps its GPUs: its lease is
        extended, which `shares.leases` counts. Call it once a round; jobs without a row in `shares` wait.
        """
        from blox.state.fractions import choose, gpus_by_type
        from blox.state.leases import pin, pin_alone

        shares.account(job_state, cluster_state)
        width = job_state.columns.gpus.take(shares.members[:, 0])
        gpus = gpus_by_type(cluster_state)
        rows, types = choose(shares, width, gpus, shares.running(cluster_state), fill)
        members, need = shares.members[rows], width[rows]
        if cluster_state.allocation.share_group is None and not (members[:, 1] >= 0).any():
            jobs = members[:, 0].copy()
            pins, stays = pin_alone(jobs, types, need, cluster_state, job_state.submitted)
            shares.count_leases(jobs, stays, job_state.now)
            return cls(jobs, pinned=pins)
        pinned, extended = pin(members.tolist(), types.tolist(), need.tolist(), cluster_state)
        jobs = np.fromiter(pinned, dtype=np.int64, count=len(pinned))
        shares.count_leases(jobs, np.array([extended[job] for job in pinned]), job_state.now)
        beside = {int(a): int(b) for pair in members if pair[1] >= 0 for a, b in (pair, pair[::-1])}
        partner = np.array([beside.get(job, -1) for job in jobs.tolist()])
        return cls(jobs, share_group=partner if beside else None, pinned=pinned)

    def lists_all(self, job_state: JobState) -> bool:
        """Whether its jobs are the active ones, as they stand."""
        return self.jobs is job_state.active

    @property
    def order(self) -> Array:
        """Positions into `jobs`, first in line first."""
        if self._order is None:
            self._order = self.rank(None)
        return self._order

    def rank(self, which: Array | None) -> Array:
        """`which` positions (all if None, ascending otherwise) in the order of the schedule."""
        keys = self.keys
        if not keys:
            return np.arange(len(self.jobs)) if which is None else which
        if which is None:
            return stable_order(*keys)
        if len(which) == 1:
            return which
        return which.take(stable_order(*(key.take(which) for key in keys)))

    def front(self, need: Array, capacity: int, guess: int) -> Array:
        """The first positions, in order, that need at least `capacity` GPUs together; or all.

        The rest is not sorted: `guess` says how many there might be. A tie across the cut brings all who
        are tied.
        """
        if not self.keys or self._order is not None or len(self.jobs) <= 1024:
            return self.order
        first = self.keys[0]
        while guess < len(first):
            cut = np.partition(first, guess)[guess]
            inside = (first <= cut).nonzero()[0]
            if int(need.take(inside).sum()) >= capacity:
                return self.rank(inside)
            guess += guess // 2
        return self.order


class Everybody(Schedule):
    """A schedule of all active jobs, who are listed only if somebody asks for them."""

    def __init__(self, job_state: JobState) -> None:
        self._job_state = job_state  # all other columns are as by default

    @property
    def jobs(self) -> Array:  # type: ignore[override]
        return self._job_state.active

    def lists_all(self, job_state: JobState) -> bool:
        return job_state is self._job_state


class Deferred(Everybody):
    """The same in an order that is worked out only if somebody asks for it; mostly everybody fits.

    `contested`, where there is one, is given the job state, the number of GPUs that are free and the most
    jobs to look at: it finds, in order, the jobs among whom it is decided who starts and who makes room, as
    `placement/few_waiting.py` does from the keys of all; None: there are more.
    """

    def __init__(
        self,
        job_state: JobState,
        find_keys: Callable[[JobState], tuple[Array, ...]],
        contested: Callable[[JobState, int, int], list[int] | None] | None = None,
    ) -> None:
        self._job_state, self._find_keys, self.contested = job_state, find_keys, contested
        self._keys: tuple[Array, ...] | None = None

    @property
    def keys(self) -> tuple[Array, ...]:
        if self._keys is None:
            self._keys = self._find_keys(self._job_state)
        return self._keys

    @keys.setter
    def keys(self, keys: tuple[Array, ...]) -> None:
        self._keys, self.contested = keys, None  # another order, of which nothing else is known


def stable_order(*keys: Array) -> Array:
    """Positions in the order of the keys, the first one first, ties as they stand."""
    if len(keys) == 1:
        return _by_number(keys[0])
    if len(keys) == 2 and keys[0].dtype == bool:  # two lines, one behind the other
        order = _by_number(keys[1])
        behind = keys[0].take(order)
        return np.concatenate((order[~behind], order[behind]))
    return np.lexsort(keys[::-1])


def _by_number(key: Array) -> Array:
    """`argsort(kind="stable")`, several times faster for long keys of finite numbers.

    A sort of plain integers is quick, so the leading bits of each key are packed with its position. The
    bits that give way to the position rarely matter; where they do, the slow way is taken.
    """
    size = len(key)
    if size < 1024:
        return key.argsort(kind="stable")
    bits = (key + 0.0).view(np.int64)  # + 0.0: one zero, not two
    ascending = bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF))
    mask = np.int64((1 << int(size - 1).bit_length()) - 1)
    packed = (ascending & ~mask) | np.arange(size)
    packed.sort()
    order = packed & mask
    in_order = key.take(order)
    if (in_order[1:] >= in_order[:-1]).all():
        return order
    return key.argsort(kind="stable")
