from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from blox.errors import BloxError
from blox.registry import check_choices, register
from blox.schedulers.themis.apps import AppHistory, Apps
from blox.schedulers.themis.auction import Bid, Bundle, auction
from blox.schedulers.themis.rho import offered
from blox.schedulers.themis.wants import Want, wants
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_LEASED = "leases of other jobs left too few GPUs on offer"
_NOT_WON = "other jobs got the GPUs on offer, by auction or by draw"


@dataclass
class _Memory:
    history: AppHistory = field(default_factory=AppHistory)
    lease_end_s: dict[int, float] = field(default_factory=dict)  # by row, of jobs that were given GPUs
    offered_gpus: int = 0  # in the last round: all that are not leased


@register.scheduling("themis")
@dataclass(frozen=True)
class Themis:
    """Auctions free GPUs among the apps that finish-time fairness finds worst off (Themis, NSDI'20).

    An app is the jobs with the same `apps` column (`group`, `user`, `tenant`, `model`; one without a name,
    and `apps=job`, is an app of its own). GPUs are leased for `lease` seconds. At every round the GPUs that
    are free, or whose leases have ended, are offered to the part 1 - `f` of all apps with the largest rho;
    they bid 1/rho for each number of GPUs; the partial-allocation auction says what each gets, and
    `payments=false` lets them keep what they would pay. The rest goes to the other apps by a seeded draw, as
    little at a time as a job can use, and what they cannot use by the same draw to the bidders.
    `aligned=true` ends all leases together. `spread`: how much longer an app believes its iterations take if
    its GPUs do not fit on one node.

    Departures: a part of a GPU that an app has won is a chance of the whole (rounding down would leave
    nothing to apps that bid for few); jobs are gangs, so an app of one rigid job bids for all its GPUs or
    nothing; an app whose jobs cannot all run at once is taken to share its GPUs among them (the paper's rho
    would be infinite); apps with ended leases keep their GPUs where they win again; where GPUs are is left to
    the placement.
    """

    f: float = 0.8
    lease: float = 1200.0
    apps: Literal["group", "user", "tenant", "model", "job"] = "group"
    payments: bool = True
    aligned: bool = False
    spread: float = 1.0

    reads_durations: ClassVar[bool] = True
    uses_seed: ClassVar[bool] = True
    resizes: ClassVar[bool] = True
    rigid_too: ClassVar[bool] = (
        True  # rigid jobs are its daily bread: that none is elastic is not worth telling
    )

    def __post_init__(self) -> None:
        check_choices(self)
        if not 0 <= self.f < 1:
            raise BloxError(f"f is {self.f:g}", fix="f must be at least 0 and below 1, such as 0.8")
        if not 0 < self.lease < math.inf:
            raise BloxError(f"lease is {self.lease:g}", fix="lease must be a number of seconds above 0")
        if not 1 <= self.spread < math.inf:
            raise BloxError(f"spread is {self.spread:g}", fix="spread must be 1 or more")

    @property
    def app_column(self) -> str:
        """The column that makes jobs one app; fairness is measured by it."""
        return self.apps

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        memory = job_state.memory(self, _Memory)
        memory.history.update(job_state, self.apps)
        active, held = job_state.active, job_state.held_gpus
        leases, now = memory.lease_end_s, job_state.now
        kept = np.array([now < leases.get(row, -1.0) for row in active.tolist()], dtype=bool) & (held > 0)
        pool = cluster_state.total_gpus - self._leased(active[kept], held[kept], cluster_state)
        memory.offered_gpus = pool
        asked = wants(job_state, np.flatnonzero(~kept)) if pool and not kept.all() else {}
        granted = self._granted(asked, kept, pool, job_state, cluster_state, memory) if asked else {}
        end = self._lease_end(now)
        memory.lease_end_s = {row: leases[row] for row in active[kept].tolist()}
        memory.lease_end_s.update((int(active[position]), end) for position in granted)
        for position in np.flatnonzero(kept).tolist():
            granted[position] = held.item(position)
        listed = np.array(sorted(granted), dtype=np.int64)
        gpus = np.array([granted[position] for position in listed.tolist()], dtype=np.int64)
        same = bool((gpus == job_state.gpus[listed]).all())
        return Schedule(active[listed], preempt=False, gpus=None if same else gpus)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Until a lease ends; not at all while GPUs are free and a job waits."""
        if cluster_state.free_gpus and not job_state.running.all():
            return job_state.now
        return min(job_state.memory(self, _Memory).lease_end_s.values(), default=math.inf)

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> Array:
        """Leases hold the GPUs, or other apps got those that were on offer."""
        offered_gpus = job_state.memory(self, _Memory).offered_gpus
        return np.where(job_state.columns.min_gpus.take(rows) > offered_gpus, _LEASED, _NOT_WON)

    def _leased(self, rows: Array, held: Array, cluster_state: ClusterState) -> int:
        """GPUs that these jobs hold on nodes that take jobs."""
        if not cluster_state.draining:
            return int(held.sum())
        gpus = cluster_state.holdings.held_by(rows)
        return int(cluster_state.node_up[cluster_state.gpu_node[gpus]].sum())

    def _lease_end(self, now: float) -> float:
        return (math.floor(now / self.lease) + 1) * self.lease if self.aligned else now + self.lease

    def _granted(
        self,
        asked: dict[int, Want],
        kept: Array,
        pool: int,
        job_state: JobState,
        cluster_state: ClusterState,
        memory: _Memory,
    ) -> dict[int, int]:
        """GPUs for each job (a position in `active`) that gets a lease now."""
        apps = Apps.of(job_state, memory.history, cluster_state.total_gpus)
        held = np.bincount(apps.of_job, job_state.held_gpus * kept, minlength=len(apps.elapsed_s))
        held = held.astype(np.int64)
        by_app: dict[int, Want] = {}
        for position, want in asked.items():
            app = int(apps.of_job[position])
            by_app[app] = by_app[app].joined(want) if app in by_app else want
        # apps without GPUs are infinitely late; these go by how late they are with all the GPUs they want
        now, best = apps.rho(held), apps.rho(apps.most_gpus)
        line = np.lexsort((-best, -now))[: offered(len(held), self.f)].tolist()
        bidders = [app for app in line if app in by_app and by_app[app].sizes[0] <= pool]
        largest = self._largest(kept, job_state, cluster_state)
        bids = [self._bid(apps, app, by_app[app], int(held[app]), pool, largest) for app in bidders]
        granted: dict[int, int] = {}
        rng = job_state.rng("themis")  # whatever its switches, so that their effects can be compared
        for app, outcome in zip(bidders, auction(bids, (pool,), payments=self.payments)):
            granted.update(by_app[app].take(math.floor(outcome.share + rng.random())))
        left = pool - sum(granted.values())
        for line in (sorted(by_app.keys() - set(bidders)), sorted(bidders)):
            drawn = [line[place] for place in rng.permutation(len(line)).tolist()]
            left -= _deal(drawn, by_app, left, granted)
        return granted

    def _bid(self, apps: Apps, app: int, want: Want, held: int, pool: int, largest: int) -> Bid:
        values: dict[Bundle, float] = {(0,): 1.0 / apps.rho_of(app, held)}
        for size in want.sizes:
            if size <= pool:
                slowdown = self.spread if largest < size else 1.0
                values[(size,)] = 1.0 / apps.rho_of(app, held + size, slowdown)
        return Bid(values)

    def _largest(self, kept: Array, job_state: JobState, cluster_state: ClusterState) -> int:
        """The most GPUs of the pool on one node; only looked up where being spread costs something."""
        if self.spread == 1.0:
            return cluster_state.total_gpus
        taken = set(job_state.active[kept].tolist())
        owner = cluster_state.owner
        assert owner is not None
        free = (
            np.array([row not in taken for row in owner.tolist()])
            & cluster_state.node_up[cluster_state.gpu_node]
        )
        return int(np.bincount(cluster_state.gpu_node, free).max())


def _deal(line: Iterable[int], by_app: dict[int, Want], left: int, granted: dict[int, int]) -> int:
    """Hands what is left out, to each app in turn the least it can use next; returns how many GPUs went."""
    given, line = 0, list(line)
    while line and left > given:
        again = []
        for app in line:
            step = by_app[app].next_step(granted, left - given)
            if step is not None:
                position, gpus = step
                given += gpus - granted.get(position, 0)
                granted[position] = gpus
                again.append(app)
        line = again
    return given
