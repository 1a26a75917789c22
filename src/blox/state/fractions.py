"""The round mechanism: time fractions on GPU types become rounds of whole GPUs (Gavel, OSDI'20).

A policy that thinks in fractions ("job 3 is to be on a V100 for half of its time") keeps a `TimeShares` in
its memory and asks for `Schedule.from_fractions(...)` every round. The job that has received the smallest
part of its wanted time goes first. The policy decides which fractions it wants."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.cluster import ClusterState
    from blox.state.jobs import JobState
    from blox.state.plan import Allocation

MEMORY_ROUNDS = 10.0  # what a job was owed in the last so many rounds counts when fractions are set anew
STAY_ROUNDS = 1.0  # moving costs a restart: a running job goes on until it is so far ahead of the others

Chosen = tuple[int, int]  # (row of the table of shares, GPU type)


class Claims(NamedTuple):
    """Rows and types where time is wanted that can be had; by older jobs first, then by row and type."""

    row: Array
    type: Array
    cell: Array  # of the tables, if they were one long row
    first: Array  # the members of the row
    second: Array
    wanted: Array


class TimeShares:
    """The part of the time that each job, or pair of jobs, is to spend on each GPU type, and what it has had.

    Row r of the tables is for the jobs `members[r]` (rows of JobState), the second -1 where a job is alone.
    `wanted` are fractions of the time, `received_s` seconds, `speed` says how fast the row is (0: it cannot
    run there); all are rows x GPU types, in the order of `cluster_state.gpu_types`.

    The priority of a row on a type is its wanted fraction over its received one. Received time is counted
    from half a round, so that jobs take turns as seats are dealt out by Sainte-Lague's divisors: of two jobs
    that want 0.6 and 0.3, the first has two turns of three. Where a row runs already, its last `stay` rounds
    do not count, so that leases are extended rather than ended. Setting new fractions (`want`) keeps what a
    job is owed of the last ten rounds: it starts as if the new fractions had held for that long. Call
    `account` before.
    """

    def __init__(self, types: int, stay: float = STAY_ROUNDS) -> None:
        self.stay = stay
        self.members: Array = np.empty((0, 2), dtype=np.int64)
        self.wanted: Array = np.empty((0, types))
        self.received_s: Array = np.empty((0, types))
        self.speed: Array = np.empty((0, types))
        self.elapsed_s = 0.0  # since the fractions hold, with what is remembered from before
        self.round_s = 0.0  # between the last two calls
        self.leases: Array = np.zeros((0, 2), dtype=np.int64)  # by job: rounds it ran, on the GPUs of before
        self._last_s = self._counted_s = math.nan
        self._active: Array | None = None  # the jobs when one last left
        self._alone: Array = np.full(1, -1)  # job -> its own row; the last one is for all that have none
        self._paired: dict[tuple[int, int], int] = {}
        self._claims: Claims | None = None
        self._running: tuple[Allocation, Array] | None = None  # of the present allocation

    @property
    def last_job(self) -> int:
        """The highest row number of a job here; -1 if there is none."""
        return len(self._alone) - 2

    def without_row(self, jobs: Array) -> Array:
        """Those of the jobs that have no row yet."""
        without: Array = jobs[self._rows_of(jobs) < 0]
        return without

    def wanted_by(self, jobs: Array) -> Array:
        """The part of the time that each of these jobs is to have, alone and in pairs, on all types."""
        wanted = np.zeros(max(self.members.max(initial=-1), jobs.max(initial=-1)) + 2)  # the last: no partner
        for member in self.members.T:
            np.add.at(wanted, member, self.wanted.sum(axis=1))
        return wanted.take(jobs)

    def account(self, job_state: JobState, cluster_state: ClusterState) -> None:
        """Books the time since the last call on the jobs that ran; jobs that have left are dropped."""
        passed = 0.0 if math.isnan(self._last_s) else job_state.now - self._last_s
        self._last_s = job_state.now
        if passed > 0:
            self.round_s = passed
            self.elapsed_s += passed
            self.received_s.reshape(-1)[self.running(cluster_state)] += passed
        if job_state.active is not self._active:
            self._active = job_state.active
            there = np.zeros(job_state.submitted + 1, dtype=bool)
            there[self._active] = there[-1] = True  # the last one stands for no job
            stays: Array = np.all(there[self.members], axis=1)
            if not stays.all():
                self._set(self.members[stays], self.wanted[stays], self.received_s[stays], self.speed[stays])

    def add(self, jobs: Array, fractions: Array, speed: Array) -> None:
        """Newcomers; each counts as having had its part so far."""
        self._set(
            np.concatenate((self.members, np.column_stack((jobs, np.full(len(jobs), -1))))),
            np.concatenate((self.wanted, fractions)),
            np.concatenate((self.received_s, fractions * self.elapsed_s)),
            np.concatenate((self.speed, speed)),
        )

    def want(self, members: Array, fractions: Array, speed: Array) -> None:
        """Sets new fractions for all. What jobs are owed of the last rounds, or had too much, is kept."""
        owed = np.zeros(fractions.shape)
        most = MEMORY_ROUNDS * self.round_s
        before = self._rows_of(members[:, 0], members[:, 1])
        known, rows = before >= 0, before[before >= 0]
        # time on GPUs that no other job wanted is not held against a job for longer than a round
        owed[known] = np.clip(self.wanted[rows] * self.elapsed_s - self.received_s[rows], -self.round_s, most)
        self.elapsed_s = most
        self._set(members, fractions, np.maximum(fractions * most - owed, 0.0), speed)

    def in_line(self, running: Array) -> tuple[Claims, Array]:
        """The claims, and their order: by wanted over received fraction; 1: received exactly what it wanted.

        Of equal claims, those whose jobs keep their GPUs come first, then those of older jobs.
        """
        if self._claims is None:
            self._claims = self._find_claims()
        claims, half = self._claims, self.round_s / 2 or 1.0
        received_s = self.received_s.take(claims.cell) + half
        here = np.zeros(self.wanted.size, dtype=bool)
        here[running] = True
        stays = here.take(claims.cell)
        received_s[stays] = np.maximum(received_s[stays] - self.stay * self.round_s, half)
        priority = claims.wanted / (received_s / (self.elapsed_s + half))
        priority[stays] *= 1.0 + 1e-12  # on equal terms
        return claims, (-priority).argsort(kind="stable")

    def count_leases(self, jobs: Array, extended: Array, now: float) -> None:
        """These jobs run in the round that begins now; `extended` says which go on where they are."""
        if now == self._counted_s or not len(jobs):  # asked again in the same round
            return
        self._counted_s = now
        more = int(jobs.max()) + 1 - len(self.leases)
        if more > 0:
            self.leases = np.concatenate(
                (self.leases, np.zeros((more + len(self.leases), 2), dtype=np.int64))
            )
        counted, cell = self.leases.reshape(-1), 2 * jobs
        counted[cell] += 1
        counted[cell + 1] += extended

    def running(self, cluster_state: ClusterState) -> Array:
        """Which jobs have run since the last round, and where: flat indices into the tables."""
        allocation = cluster_state.allocation
        if self._running is None or self._running[0] is not allocation:
            self._running = allocation, self._find_running(cluster_state)
        return self._running[1]

    def _find_running(self, cluster_state: ClusterState) -> Array:
        allocation, types = cluster_state.allocation, self.wanted.shape[1]
        jobs, partner = allocation.jobs, allocation.share_group
        if partner is None:
            on = held_types(cluster_state, int(jobs.max(initial=-1)))[jobs]
            rows = self._rows_of(jobs)
            cells: Array = rows * types + on
            return cells[rows >= 0]
        counts = allocation.counts
        on = cluster_state.gpu_type[allocation.gpus[np.cumsum(counts) - counts]]
        rows = self._rows_of(jobs, partner.astype(np.int64))
        return np.unique((rows * types + on)[rows >= 0])  # a pair is met twice

    def _rows_of(self, jobs: Array, others: Array | None = None) -> Array:
        """The row of each job alone (other -1) or pair; -1 where there is none."""
        found: Array = self._alone[np.minimum(jobs, len(self._alone) - 1)]
        if others is None:
            return found
        for place in (others >= 0).nonzero()[0].tolist():
            pair = int(jobs[place]), int(others[place])
            found[place] = self._paired.get((min(pair), max(pair)), -1)
        return found

    def _set(self, members: Array, wanted: Array, received_s: Array, speed: Array) -> None:
        self.members, self.wanted, self.speed = members, wanted, speed
        self.received_s = np.ascontiguousarray(received_s)
        self._running = self._claims = None
        single = members[:, 1] < 0
        self._alone = np.full(int(members.max(initial=-1)) + 2, -1)
        if single.all():
            self._alone[members[:, 0]] = np.arange(len(members))
            self._paired = {}
            return
        self._alone[members[single, 0]] = single.nonzero()[0]
        rows = (~single).nonzero()[0].tolist()
        self._paired = {(min(a, b), max(a, b)): row for row, (a, b) in zip(rows, members[rows].tolist())}

    def _find_claims(self) -> Claims:
        row, type_ = ((self.wanted > 0) & (self.speed > 0)).nonzero()
        older = self.members[row, 0].argsort(kind="stable")
        row, type_ = row[older], type_[older]
        cell = row * self.wanted.shape[1] + type_
        first, second = self.members[row].T
        return Claims(row, type_, cell, first, second, self.wanted.take(cell))


def gpus_by_type(cluster_state: ClusterState) -> Array:
    """GPUs of each type on nodes that are up."""
    of_type = cluster_state.node_gpus * cluster_state.node_up
    return np.bincount(cluster_state.node_type, of_type, len(cluster_state.gpu_types)).astype(np.int64)


def held_types(cluster_state: ClusterState, last: int) -> Array:
    """The type of the first GPU that each row up to `last` holds; a further entry stands for no job."""
    owner = cluster_state.owner
    assert owner is not None
    found = np.full(last + 2, -1)
    found[owner[::-1]] = cluster_state.gpu_type[::-1]  # of several GPUs of a job, the type of the lowest
    return found


def choose(shares: TimeShares, width: Array, gpus: Array, running: Array, fill: bool) -> tuple[Array, Array]:
    """(rows of the shares, types): which jobs run in the coming round; no job twice, no type beyond its GPUs.

    `width` is by row of the shares, `gpus` by type, `running` as in `TimeShares.running`. Claims come in
    order of priority; a job that does not fit is passed over. With `fill` GPUs that are left go to jobs
    that are left, the most deserving first, each on the type where it is fastest, on equal terms where most
    are free."""
    claims, order = shares.in_line(running)
    free, taken = gpus.tolist(), bytearray(shares.last_job + 2)
    left = sum(free)
    chosen: list[int] = []
    needs = width.take(claims.row)
    columns = (column.take(order) for column in (claims.type, needs, claims.first, claims.second))
    for claim, kind, need, job, other in zip(order.tolist(), *(column.tolist() for column in columns)):
        if taken[job] or free[kind] < need or taken[other]:
            continue
        taken[job] = taken[other] = 1
        taken[-1] = 0  # no job: the partner of a job that runs alone
        chosen.append(claim)
        free[kind] -= need
        left -= need
        if not left:
            break
    won = np.array(chosen, dtype=np.int64)
    rows, types = claims.row.take(won), claims.type.take(won)
    if not (fill and left):
        return rows, types
    first, second = shares.members.T
    idle = ((second < 0) & ~np.frombuffer(taken, dtype=bool)[first]).nonzero()[0]
    if not len(idle):
        return rows, types
    more = np.array(_fill(shares, idle, width.tolist(), free), dtype=np.int64).reshape(-1, 2)
    return np.concatenate((rows, more[:, 0])), np.concatenate((types, more[:, 1]))


def _fill(shares: TimeShares, idle: Array, widths: list[int], free: list[int]) -> list[Chosen]:
    standing = shares.wanted[idle].sum(axis=1) / (
        shares.received_s[idle].sum(axis=1) + (shares.round_s or 1.0)
    )
    chosen = []
    for row in idle[np.lexsort((shares.members[idle, 0], -standing))].tolist():
        speed = shares.speed[row].tolist()
        room = [kind for kind, gpus in enumerate(free) if gpus >= widths[row] and speed[kind] > 0]
        if room:
            kind = max(room, key=lambda each: (speed[each], free[each], -each))
            free[kind] -= widths[row]
            chosen.append((row, kind))
    return chosen
