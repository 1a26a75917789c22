"""Usage: the GPU time that every user of an account has had, less the older it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from blox.schedulers.fair_share.accounts import Accounts, User
from blox.state.jobs import JobState
from blox.workloads.table import Array

PERIOD_S = 300.0  # Slurm's default PriorityCalcPeriod


@dataclass
class Usage:
    """GPU-seconds by user, halved every half-life; what a policy remembers.

    What a stint used in each `PERIOD_S` from its start decays as if it had been used in the middle of it, as
    Slurm takes what was used in a PriorityCalcPeriod together. Only the end of a stint changes what is
    remembered, so that usage does not depend on how often it is asked for.
    """

    accounts: Accounts
    of_row: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # the user's number, by row
    counted: Array = field(default_factory=lambda: np.empty(0))  # GPU-seconds that are in `value`, by row
    counted_run_s: Array = field(default_factory=lambda: np.empty(0))  # and the time of these stints
    numbers: dict[User, int] = field(default_factory=dict)
    value: Array = field(default_factory=lambda: np.empty(0))  # by user, of stints that have ended
    at_s: Array = field(default_factory=lambda: np.empty(0))  # by user: when `value` was so much

    def update(self, job_state: JobState, half_life_s: float) -> dict[User, float]:
        """The usage of every user now."""
        self._learn(job_state)
        self._count_ended(job_state, half_life_s)
        now, columns = job_state.now, job_state.columns
        running = job_state.active[job_state.running]
        going_on = columns.held_gpus[running] * _decayed(now - columns.held_since[running], half_life_s)
        fresh = np.bincount(self.of_row.take(running), going_on, minlength=len(self.value))
        usage = self.value * 2.0 ** (-(now - self.at_s) / half_life_s) + fresh
        return dict(zip(self.numbers, usage.tolist()))

    def _count_ended(self, job_state: JobState, half_life_s: float) -> None:
        """Takes in the stints that have ended since, in order of their ends."""
        columns = job_state.columns
        rows = np.union1d(job_state.active, job_state.just_finished)
        rows = rows[columns.held0[rows] != self.counted[rows]]
        rows = rows[np.argsort(columns.held_since[rows], kind="stable")]
        received, run_s = columns.held0[rows], columns.run0[rows]
        lasted = run_s - self.counted_run_s[rows]
        gpus = (received - self.counted[rows]) / lasted
        decayed = gpus * _decayed(lasted, half_life_s)
        ends = columns.held_since[rows]
        for user, end_s, used in zip(self.of_row[rows].tolist(), ends.tolist(), decayed.tolist()):
            self.value[user] = self.value[user] * 2.0 ** (-(end_s - self.at_s[user]) / half_life_s) + used
            self.at_s[user] = end_s
        self.counted[rows], self.counted_run_s[rows] = received, run_s

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
        none, new_users = np.zeros(count - known), np.zeros(len(self.numbers) - len(self.value))
        self.counted = np.concatenate((self.counted, none))
        self.counted_run_s = np.concatenate((self.counted_run_s, none))
        self.value = np.concatenate((self.value, new_users))
        self.at_s = np.concatenate((self.at_s, new_users))


def _decayed(lasted_s: Array, half_life_s: float) -> Array:
    """What is left, at their ends, of stints of one GPU that lasted so long."""
    if half_life_s == math.inf:
        return lasted_s
    periods = np.floor(lasted_s / PERIOD_S)
    rest = lasted_s - periods * PERIOD_S  # the last, unfinished period
    decay = -math.log(2) * PERIOD_S / half_life_s
    whole = PERIOD_S * np.expm1(periods * decay) / math.expm1(decay)
    left: Array = rest * 2.0 ** (-rest / 2 / half_life_s)
    return left + whole * 2.0 ** (-(rest + PERIOD_S / 2) / half_life_s)
