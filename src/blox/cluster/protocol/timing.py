"""Timing: how long the parts of a cluster wait for one another."""

from __future__ import annotations

import msgspec

from blox.errors import BloxError


class Timing(msgspec.Struct, frozen=True):
    """Durations in seconds, measured by the clock of the part that waits: no two clocks are compared.

    A worker manager without an answer from the scheduler for `lease_s - grace_s` asks its jobs to leave, and
    at `lease_s` they are killed. The scheduler gives their GPUs up for lost `margin_s` later, which must
    cover how long a kill takes (a process that waits for its disk dies late), and the difference in speed of
    the two clocks over a lease.
    """

    round_s: float = 10.0  # policies are asked this often
    heartbeat_s: float = 2.0  # between two reports of a worker manager
    lease_s: float = 30.0
    margin_s: float = 3.0
    grace_s: float = 15.0  # from the revocation of a lease to the kill
    backoff_s: float = 5.0  # before a job that failed starts again; doubled with every failure
    longest_backoff_s: float = 300.0
    clock_off_s: float = 300.0  # by how much the wall clock of a node that starts may be off
    attempts: int = 3  # a job that failed by itself so often is given up

    def __post_init__(self) -> None:
        for name in ("round_s", "heartbeat_s", "lease_s", "margin_s", "grace_s"):
            if not 0 < getattr(self, name) < 1e6:
                raise BloxError(
                    f"{name} is {getattr(self, name)!r}", where="timing", fix="give seconds above 0"
                )
        if self.lease_s < self.grace_s + 3 * self.heartbeat_s:
            raise BloxError(
                f"lease_s is {self.lease_s:g}, grace_s {self.grace_s:g}, heartbeat_s {self.heartbeat_s:g}",
                where="timing",
                fix="let a lease last for the grace period and three heartbeats",
            )

    def backoff(self, failures: int) -> float:
        """How long a job that has failed so often waits before it starts again."""
        return min(self.longest_backoff_s, self.backoff_s * 2.0 ** max(0, failures - 1))
