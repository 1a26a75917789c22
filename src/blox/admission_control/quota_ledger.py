"""What every owner of a quota has admitted, and what is left of its burst: what a quota policy remembers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from blox.admission_control.quota_rules import Burst, QuotaRule
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.workloads.table import Array

HOUR_S = 3600.0  # a burst must last for so long at least when a job begins one
Owner = tuple[int, tuple[str, ...]]  # of a rule, by its number


@dataclass
class _Account:
    """Jobs and GPUs that are admitted; GPU-seconds of the burst that are left, at a time."""

    jobs: int = 0
    gpus: int = 0
    left: float = math.inf
    at_s: float = 0.0

    def left_at(self, time_s: float, quota_gpus: int, burst: Burst) -> float:
        """What is left then: what was used above the quota is gone, and some has come back."""
        left = min(self.left, burst.gpu_seconds)
        flow = burst.rate - max(self.gpus - quota_gpus, 0)
        return min(max(left + flow * (time_s - self.at_s), 0.0), burst.gpu_seconds)


@dataclass
class Ledger:
    """Accounts by owner. `reasons`: what held each job that may not enter; `retry_s`: when to ask again."""

    accounts: dict[Owner, _Account] = field(default_factory=dict)
    admitted: Array = field(
        default_factory=lambda: np.empty(0, dtype=np.int64)
    )  # not finished when last seen
    reasons: dict[int, str] = field(default_factory=dict)
    retry_s: float = math.inf

    def settle(self, rules: tuple[QuotaRule, ...], job_state: JobState) -> None:
        """Jobs that have finished since give back what they counted for, each at its own time."""
        c = job_state.columns
        done = self.admitted[c.status.take(self.admitted) == FINISHED]
        for row in done[np.argsort(c.finish_s.take(done), kind="stable")].tolist():
            self._change(row, rules, job_state, float(c.finish_s[row]), -1)
        self.admitted = self.admitted[c.status.take(self.admitted) != FINISHED]

    def admit(self, row: int, rules: tuple[QuotaRule, ...], job_state: JobState) -> None:
        """A job counts from now on."""
        self._change(row, rules, job_state, job_state.now, 1)
        self.admitted = np.append(self.admitted, row)

    def refusal(self, row: int, rules: tuple[QuotaRule, ...], job_state: JobState) -> str:
        """The first quota that a job would exceed, in words; empty: it may enter."""
        need = int(job_state.columns.gpus[row])
        for number, rule in enumerate(rules):
            owner = rule.owner(row, job_state.columns)
            if owner is None:
                continue
            account = self.accounts.setdefault((number, owner), _Account(at_s=job_state.now))
            whose = f"{rule.name} ({', '.join(owner)})" if owner else rule.name
            if rule.jobs and account.jobs >= rule.jobs:
                return f"the quota of {whose} had as many jobs admitted as it allows"
            above = rule.gpus and account.jobs and account.gpus + need > rule.gpus
            if above and not self._may_burst(account, need, rule, job_state.now):
                return f"the quota of {whose} had as many GPUs admitted as it allows"
        return ""

    def _may_burst(self, account: _Account, need: int, rule: QuotaRule, now: float) -> bool:
        """Whether a job may go above the quota: within the burst's GPUs, and with an hour of it left."""
        burst = rule.burst
        if burst is None:
            return False
        excess = account.gpus + need - rule.gpus
        if excess > burst.gpus:
            return False
        wanted = min(excess * HOUR_S, burst.gpu_seconds)
        left = account.left_at(now, rule.gpus, burst)  # not kept: asking changes no bit of the next answer
        if left >= wanted:
            return True
        if account.gpus <= rule.gpus:  # it fills up again
            self.retry_s = min(self.retry_s, now + (wanted - left) / burst.rate)
        return False

    def _change(
        self, row: int, rules: tuple[QuotaRule, ...], job_state: JobState, time_s: float, sign: int
    ) -> None:
        gpus = int(job_state.columns.gpus[row])
        for number, rule in enumerate(rules):
            owner = rule.owner(row, job_state.columns)
            if owner is not None:
                account = self.accounts.setdefault((number, owner), _Account(at_s=time_s))
                if rule.burst is not None:
                    account.left = account.left_at(time_s, rule.gpus, rule.burst)
                    account.at_s = time_s
                account.jobs += sign
                account.gpus += sign * gpus
