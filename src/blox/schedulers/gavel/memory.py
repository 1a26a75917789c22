"""What the scheduler gavel keeps from round to round, and what it tells of a run in the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blox.schedulers.gavel.usage import Usage
from blox.state.fractions import TimeShares
from blox.state.jobs import JobState
from blox.workloads.table import Array


@dataclass
class Memory:
    """Time shares, the policy's own memory, the jobs of the last round, and what was counted."""

    shares: TimeShares
    packed: bool = False  # whether jobs may share GPUs
    priced: bool = False  # whether the prices of GPUs matter
    of_policy: dict[str, Any] = field(default_factory=dict)
    seen: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # jobs at the last round
    gpus: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # by type, at the last round
    changed: bool = True  # a job came or went since the last solution
    solved_s: float = -np.inf
    relaxed: dict[int, int] = field(default_factory=dict)  # job -> solutions that did not hold its SLO
    usage: Usage = field(default_factory=Usage)

    @property
    def keeps_usage(self) -> bool:
        return self.packed or self.priced

    def job_columns(self, job_state: JobState) -> dict[str, Array]:
        """Rounds a job ran in, those on the GPUs of the round before, solutions without its SLO.

        Where jobs may share GPUs, also the seconds in which each did.
        """
        submitted = job_state.submitted
        found = np.zeros((3, submitted), dtype=np.int64)
        counted = self.shares.leases[:submitted].T
        found[:2, : counted.shape[1]] = counted
        for row, times in self.relaxed.items():
            found[2, row] = times
        told: dict[str, Array] = dict(zip(("leases", "lease_extensions", "slo_relaxed"), found))
        if self.packed:
            self.usage.settle(job_state)
            told["shared_s"] = np.array([self.usage.shared_s.get(row, 0.0) for row in range(submitted)])
        return told

    def figures(self, job_state: JobState) -> dict[str, float]:
        """The share of leases that were extended, the jobs whose SLO was relaxed.

        Where jobs have SLOs, how many have one and how many missed it; where prices matter, what it all cost.
        """
        leases, extended = self.shares.leases.sum(axis=0).tolist()
        found: dict[str, float] = {"extended_leases": extended / max(leases, 1)}
        found["slo_relaxed"] = len(self.relaxed)
        columns, submitted = job_state.columns, job_state.submitted
        slo_s, end_s = columns.deadline_s[:submitted], columns.finish_s[:submitted]
        if np.isfinite(slo_s).any():
            found["slos"] = int(np.isfinite(slo_s).sum())
            found["slos_missed"] = int((np.where(np.isnan(end_s), job_state.now, end_s) > slo_s).sum())
        if self.priced:
            self.usage.settle(job_state)
            found["cost_dollars"] = self.usage.dollars
        return found
