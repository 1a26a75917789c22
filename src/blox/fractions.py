"""The round mechanism: time fractions on GPU types become rounds of whole GPUs (Gavel, OSDI'20).

A policy that thinks in fractions ("job 3 is to be on a V100 for half of its time") keeps a `TimeShares` in
its memory and asks for `Schedule.from_fractions(...)` every round. Who has had the least of what it is to
have goes first. Which fractions are right is the policy's business, not ours.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.cluster_state import ClusterState
    from blox.job_state import JobState

MEMORY_ROUNDS = 10.0  # what a job was owed in the last so many rounds counts when fractions are set anew

Chosen = tuple[int, int]  # (row of the table of shares, GPU type)


class TimeShares:
    """The part of the time that each job, or pair of jobs, is to spend on each GPU type, and what it has had.

    Row r of the tables is for the jobs `members[r]` (rows of JobState), the second -1 where a job is alone.
    `wanted` are fractions of the time, `received_s` seconds, `speed` says how fast the row is (0: it cannot
    run there); all are rows x GPU types, in the order of `cluster_state.gpu_types`.

    The priority of a row on a type is its wanted fraction over its received one. Received time is counted
    from half a round, so that jobs take turns as seats are dealt out by Sainte-Lague's divisors: of two jobs
    that want 0.6 and 0.3, the first has two turns of three. Setting new fractions (`want`) keeps what a job
    is owed of the last ten rounds: it starts as if the new fractions had held for that long. Call `account`
    before.
    """

    def __init__(self, types: int) -> None:
        self.members: Array = np.empty((0, 2), dtype=np.int64)
        self.wanted: Array = np.empty((0, types))
        self.received_s: Array = np.empty((0, types))
        self.speed: Array = np.empty((0, types))
        self.elapsed_s = 0.0  # since the fractions hold, with what is remembered from before
        self.round_s = 0.0  # between the last two calls
        self.leases: dict[int, list[int]] = {}  # job -> rounds in which it ran, those on the GPUs of before
        self._last_s = self._counted_s = math.nan
        self._alone: dict[int, int] = {}  # job -> its own row
        self._paired: dict[tuple[int, int], int] = {}

    @property
    def jobs(self) -> Array:
        """The jobs that have a row of their own."""
        return np.fromiter(self._alone, dtype=np.int64, count=len(self._alone))

    def account(self, job_state: JobState, cluster_state: ClusterState) -> None:
        """Books the time since the last call on those who ran; jobs that have left are dropped."""
        passed = 0.0 if math.isnan(self._last_s) else job_state.now - self._last_s
        self._last_s = job_state.now
        if passed > 0:
            self.round_s = passed
            self.elapsed_s += passed
            for row, type_ in self.running(cluster_state):
                self.received_s[row, type_] += passed
        if len(self.members):
            stays: Array = np.all(np.isin(self.members, job_state.active) | (self.members < 0), axis=1)
            if not stays.all():
                self._keep(stays)

    def add(self, jobs: Array, fractions: Array, speed: Array) -> None:
        """Newcomers; each counts as having had its part so far."""
        self._set(
            np.concatenate((self.members, np.column_stack((jobs, np.full(len(jobs), -1))))),
            np.concatenate((self.wanted, fractions)),
            np.concatenate((self.received_s, fractions * self.elapsed_s)),
            np.concatenate((self.speed, speed)),
        )

    def want(self, members: Array, fractions: Array, speed: Array) -> None:
        """Sets new fractions for all. Who is owed time of the last rounds, or has had too much, stays so."""
        owed = np.zeros(fractions.shape)
        most = MEMORY_ROUNDS * self.round_s
        before = [self._row_of(a, b) for a, b in members.tolist()]
        known = np.array([row >= 0 for row in before], dtype=bool)
        rows = np.array([row for row in before if row >= 0], dtype=np.int64)
        # time on GPUs that nobody else wanted is not held against a job for longer than a round
        owed[known] = np.clip(self.wanted[rows] * self.elapsed_s - self.received_s[rows], -self.round_s, most)
        self.elapsed_s = most
        self._set(members, fractions, np.maximum(fractions * most - owed, 0.0), speed)

    def priorities(self) -> Array:
        """Wanted fraction over received fraction (rows x types): 1 where a row has had just its part."""
        half = self.round_s / 2 or 1.0
        received = (self.received_s + half) / (self.elapsed_s + half)
        found: Array = self.wanted / received
        return found

    def count_leases(self, stays: dict[int, bool], now: float) -> None:
        """These jobs run in the round that begins now; true means that a job goes on where it is."""
        if now == self._counted_s:  # asked again in the same round
            return
        self._counted_s = now
        for job, extended in stays.items():
            counts = self.leases.setdefault(job, [0, 0])
            counts[0] += 1
            counts[1] += extended

    def running(self, cluster_state: ClusterState) -> list[Chosen]:
        """The rows that have run since the last round, and on which type."""
        allocation = cluster_state.allocation
        if not len(allocation.jobs):
            return []
        first = np.cumsum(allocation.counts) - allocation.counts
        types = cluster_state.gpu_type[allocation.gpus[first]].tolist()
        partners = allocation.share_group
        beside = [-1] * len(types) if partners is None else partners.astype(np.int64).tolist()
        found = set()
        for job, other, type_ in zip(allocation.jobs.tolist(), beside, types):
            row = self._row_of(job, other)
            if row >= 0:
                found.add((row, type_))
        return sorted(found)

    def _row_of(self, job: int, other: int) -> int:
        if other < 0:
            return self._alone.get(job, -1)
        return self._paired.get((job, other) if job < other else (other, job), -1)

    def _keep(self, which: Array) -> None:
        self._set(self.members[which], self.wanted[which], self.received_s[which], self.speed[which])

    def _set(self, members: Array, wanted: Array, received_s: Array, speed: Array) -> None:
        self.members, self.wanted, self.received_s, self.speed = members, wanted, received_s, speed
        self._alone, self._paired = {}, {}
        for row, (job, other) in enumerate(members.tolist()):
            if other < 0:
                self._alone[job] = row
            else:
                self._paired[min(job, other), max(job, other)] = row


def types_held(shares: TimeShares, cluster_state: ClusterState) -> Array:
    """The GPU type that each row of the shares runs on now; -1: none."""
    held = np.full(len(shares.members), -1)
    for row, type_ in shares.running(cluster_state):
        held[row] = type_
    return held


def choose(shares: TimeShares, width: Array, gpus: Array, now_on: Array, fill: bool) -> list[Chosen]:
    """Who runs in the coming round, and on which type: no job twice, no type beyond its GPUs.

    `width` and `now_on` (the type that a row runs on, -1 for none) are by row of the shares, `gpus` by type.
    Rows come in order of priority, on equal terms those first that stay where they are, then older jobs; who
    does not fit is passed over. With `fill` GPUs that are left go to jobs that are left, the most deserving
    first, each on the type where it is fastest, on equal terms where most are free.
    """
    free = gpus.astype(np.int64).tolist()
    priority = np.where(shares.speed > 0, shares.priorities(), 0.0)
    row, type_ = priority.nonzero()
    first, second = shares.members[row].T
    line = np.lexsort((type_, second, first, now_on[row] != type_, -priority[row, type_]))
    widths, members = width.tolist(), shares.members.tolist()
    taken: set[int] = set()
    chosen: list[Chosen] = []
    left = sum(free)
    for each, kind in zip(row[line].tolist(), type_[line].tolist()):
        need = widths[each]
        if free[kind] < need:
            continue
        job, other = members[each]
        if job in taken or other in taken:
            continue
        taken.add(job)
        if other >= 0:
            taken.add(other)
        chosen.append((each, kind))
        free[kind] -= need
        left -= need
        if not left:
            return chosen
    return chosen + _fill(shares, widths, free, taken) if fill else chosen


def _fill(shares: TimeShares, widths: list[int], free: list[int], taken: set[int]) -> list[Chosen]:
    members = shares.members.tolist()
    idle = np.array(
        [row for row, (job, other) in enumerate(members) if other < 0 and job not in taken], dtype=np.int64
    )
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
