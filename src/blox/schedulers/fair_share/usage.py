"""Usage: the GPU time that every user of an account has had, less the older it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from blox.schedulers.fair_share.accounts import Accounts, User
from blox.state import progress
from blox.state.jobs import JobState
from blox.workloads.table import Array


@dataclass
class Usage:
    """GPU-seconds by user, halved every half-life; what a policy remembers.

    What was used between two decisions decays as if it had been used in the middle between them, as Slurm
    takes what was used in a PriorityCalcPeriod together.
    """

    accounts: Accounts
    of_row: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # the user's number, by row
    counted: Array = field(default_factory=lambda: np.empty(0))  # GPU-seconds that are in `value`, by row
    numbers: dict[User, int] = field(default_factory=dict)
    value: Array = field(default_factory=lambda: np.empty(0))  # by user
    at_s: float = 0.0

    def update(self, job_state: JobState, half_life_s: float) -> dict[User, float]:
        """The usage of every user now."""
        self._learn(job_state)
        now = job_state.now
        passed = now - self.at_s
        rows = np.union1d(job_state.active, job_state.just_finished)
        received = progress.gpu_seconds(job_state, rows, now)
        fresh = np.bincount(
            self.of_row.take(rows), received - self.counted.take(rows), minlength=len(self.value)
        )
        self.counted[rows] = received
        if half_life_s < math.inf:
            self.value = self.value * 2.0 ** (-passed / half_life_s)
            fresh = fresh * 2.0 ** (-passed / 2 / half_life_s)
        self.value = self.value + fresh
        self.at_s = now
        return dict(zip(self.numbers, self.value.tolist()))

    def _learn(self, job_state: JobState) -> None:
        """Jobs that have been submitted since: whose they are."""
        known, count = len(self.of_row), job_state.submitted
        if count == known:
            return
        columns = job_state.columns
        pairs = zip(columns.tenant[known:count].tolist(), columns.user[known:count].tolist())
        numbers = []
        for account, user in pairs:
            who = (str(account), str(user))
            if who not in self.numbers:
                self.numbers[who] = len(self.numbers)
                self.accounts.add(who)
            numbers.append(self.numbers[who])
        self.of_row = np.concatenate((self.of_row, np.array(numbers, dtype=np.int64)))
        self.counted = np.concatenate((self.counted, np.zeros(count - known)))
        self.value = np.concatenate((self.value, np.zeros(len(self.numbers) - len(self.value))))
