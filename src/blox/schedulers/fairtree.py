from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blox.durations import DAY, Seconds
from blox.errors import BloxError
from blox.registry import register
from blox.schedulers.fair_share.accounts import Accounts
from blox.schedulers.fair_share.factors import fair_tree
from blox.schedulers.fair_share.usage import Usage
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule

WEEK = Seconds(7 * DAY)


@register.scheduling("fairtree")
@dataclass(frozen=True)
class FairTree:
    """Jobs of the users who are furthest below their shares go first, by Slurm's Fair Tree algorithm.

    Users are ranked down the tree of accounts: where two accounts are siblings, all users of the one that has
    had less of its share come before all of the other. `shares` is the file of the tree
    (docs/todays-schedulers.md); without it every tenant is an account, all alike, and every user of it too.
    Usage is GPU time, halved every `half_life` (PriorityDecayHalfLife; `never`: it does not decay). Users of
    the file who never submit count in the ranks, as in Slurm. `strict`: a job that does not fit blocks those
    behind it, as Slurm's main loop has it; `backfill:order=fairtree` is what clusters run.
    """

    shares: str = ""
    half_life: Seconds = WEEK
    strict: bool = True

    def __post_init__(self) -> None:
        check_half_life(self.half_life)
        Accounts(self.shares)

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        usage = job_state.memory(self, lambda: Usage(Accounts(self.shares)))
        usage.accounts.set_usage(usage.update(job_state, self.half_life))
        factors = fair_tree(usage.accounts)
        by_user = np.array([factors[user] for user in usage.numbers])
        key = -by_user.take(usage.of_row.take(job_state.active)) if len(by_user) else np.empty(0)
        return Schedule.ordered(job_state, by=key, strict=self.strict, preempt=False)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Ranks change as jobs run; that does not matter while none waits."""
        return math.inf if job_state.running.all() else job_state.now


def check_half_life(half_life_s: float) -> None:
    """Refuses a half-life within which nothing is left."""
    if not half_life_s >= 1:
        raise BloxError(
            f"half_life is {half_life_s:g} s", fix="half_life must be a time, such as 7d, or never"
        )
