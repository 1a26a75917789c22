from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from blox.admission_control.quota_ledger import Ledger
from blox.admission_control.quota_rules import QuotaRule, read_quotas
from blox.errors import BloxError
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

Counts = Counter[tuple[str, str]]  # by (kind of quota, owner)
_OWNERS = {"user": "its user", "tenant": "its tenant", "type": "its job type", "size": "its job size"}
_LARGE = "another job above most_gpus was admitted, and such jobs enter one at a time"


@dataclass
class _Held:
    reasons: dict[int, str] = field(default_factory=dict)  # of the jobs held in the last round, by row

    def renumber(self, rows: Array, before: JobState) -> None:
        """Row r is now `rows[r]`; -1: forgotten (a cluster forgets jobs that ended long ago)."""
        self.reasons = {int(rows[row]): why for row, why in self.reasons.items() if rows[row] >= 0}


@register.admission("quota")
@dataclass(frozen=True)
class Quota:
    """Holds a job while its user, tenant, job type or job size has as much admitted as allowed.

    Paper, Table 5: user job quota, user resource quota, job type quota, job resource quota. `user_jobs`
    and `user_gpus` limit the jobs, or the GPUs they ask for, that one user has admitted at a time; likewise
    `tenant_*`, `type_*` (jobs of one job type) and `size_*` (jobs that ask for the same number of GPUs);
    0 means no limit. Jobs that ask for more than `most_gpus` enter one at a time. A job whose own size
    exceeds a GPU quota enters when its owner has nothing else admitted, so that no job waits for ever. A
    held job does not hold up others behind it that are within their quotas.

    `quota:FILE.toml` has quotas of single tenants, users, job types and GPU types instead, with bursts above
    them (docs/todays-schedulers.md shows one).
    """

    path: str = ""
    user_jobs: int = 0
    user_gpus: int = 0
    tenant_jobs: int = 0
    tenant_gpus: int = 0
    type_jobs: int = 0
    type_gpus: int = 0
    size_jobs: int = 0
    size_gpus: int = 0
    most_gpus: int = 0

    # `blox check` builds it with these: some quota must be set.
    check_with: ClassVar[str] = "user_jobs=3,tenant_gpus=16,most_gpus=8"

    def __post_init__(self) -> None:
        limits = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        for name, value in limits.items():
            if value < 0:
                raise BloxError(f"{name} is {value}", fix=f"{name} must be 0 (no limit) or more")
        if self.path:
            if any(limits.values()):
                raise BloxError("a file of quotas and others beside it", fix="write them all in the file")
            _ = self._rules
        elif not any(limits.values()):
            raise BloxError("no quota is set", fix=f"give at least one of {', '.join(limits)}")

    @cached_property
    def _rules(self) -> tuple[QuotaRule, ...]:
        return read_quotas(self.path)

    def accept(self, new_jobs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        if self.path:
            return self._by_rules(new_jobs, job_state)
        admitted = self._admitted(job_state)
        accepted, reasons = [], job_state.memory(self, _Held).reasons
        reasons.clear()
        for index, row in enumerate(new_jobs.tolist()):
            if exceeded := self._exceeded(job_state, row, *admitted):
                reasons[row] = exceeded
            else:
                accepted.append(index)
                self._count(job_state, row, *admitted)
        return new_jobs[accepted]

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Only a job that finishes makes room, or a burst that has filled up again."""
        return job_state.memory(self, Ledger).retry_s if self.path else math.inf

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> list[str]:
        """The first quota that held each job back."""
        if self.path:
            held = job_state.memory(self, Ledger).reasons
            return [held.get(row, "") for row in rows.tolist()]
        reasons = job_state.memory(self, _Held).reasons
        return [reasons[row] for row in rows.tolist()]

    def _by_rules(self, new_jobs: Array, job_state: JobState) -> Array:
        ledger = job_state.memory(self, Ledger)
        ledger.settle(self._rules, job_state)
        ledger.reasons.clear()
        ledger.retry_s = math.inf
        accepted = []
        for index, row in enumerate(new_jobs.tolist()):
            if why := ledger.refusal(row, self._rules, job_state):
                ledger.reasons[row] = why
            else:
                accepted.append(index)
                ledger.admit(row, self._rules, job_state)
        return new_jobs[accepted]

    def _admitted(self, job_state: JobState) -> tuple[Counts, Counts]:
        """Jobs and GPUs that each owner of a quota has admitted."""
        admitted = Counts(), Counts()
        for row in job_state.active.tolist():
            self._count(job_state, row, *admitted)
        return admitted

    def _count(self, job_state: JobState, row: int, jobs: Counts, gpus: Counts) -> None:
        for owner, _, _ in self._limits(job_state, row):
            jobs[owner] += 1
            gpus[owner] += int(job_state.columns.gpus[row])

    def _exceeded(self, job_state: JobState, row: int, jobs: Counts, gpus: Counts) -> str:
        """The first quota that a job would exceed, in words; empty if there is none."""
        for owner, most_jobs, most_gpus in self._limits(job_state, row):
            if most_jobs and jobs[owner] >= most_jobs:
                name = _OWNERS.get(owner[0])
                return f"{name} had as many jobs admitted as the quota allows" if name else _LARGE
            size = int(job_state.columns.gpus[row])
            if most_gpus and jobs[owner] and gpus[owner] + size > most_gpus:
                return f"{_OWNERS[owner[0]]} had as many GPUs admitted as the quota allows"
        return ""

    def _limits(self, job_state: JobState, row: int) -> Iterator[tuple[tuple[str, str], int, int]]:
        """(owner, most jobs, most GPUs) for every quota that the job falls under."""
        columns, size = job_state.columns, int(job_state.columns.gpus[row])
        for kind, owner, most_jobs, most_gpus in (
            ("user", columns.user[row], self.user_jobs, self.user_gpus),
            ("tenant", columns.tenant[row], self.tenant_jobs, self.tenant_gpus),
            ("type", columns.job_type[row], self.type_jobs, self.type_gpus),
            ("size", str(size), self.size_jobs, self.size_gpus),
            ("large", "", 1 if 0 < self.most_gpus < size else 0, 0),
        ):
            if most_jobs or most_gpus:
                yield (kind, owner), most_jobs, most_gpus
