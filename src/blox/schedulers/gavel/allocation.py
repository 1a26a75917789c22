"""What Gavel's policies answer: time fractions. Nothing here knows of rounds or placement."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from blox.schedulers.gavel.problem import Problem
from blox.workloads.table import Array


@dataclass(frozen=True, eq=False)
class Allocation:
    """Which part of the time each job, or pair of jobs, is to spend on each GPU type.

    Row r is for the jobs at positions `members[r]` of the problem, the second -1 where a job is alone. The
    first rows are those of every job alone, in order; pairs come behind, where they get something.
    `fractions` is rows x types. `objective` is the policy's own figure of merit, nan where it has none;
    `relaxed` the positions of jobs whose SLO could not be held; `discount` what a strategy-proof policy
    leaves of each job's share.
    """

    members: Array
    fractions: Array
    objective: float = float("nan")
    relaxed: tuple[int, ...] = ()
    discount: Array | None = None

    @classmethod
    def of_jobs(cls, fractions: Array, objective: float = float("nan")) -> Allocation:
        """No job shares its GPUs: row i is for job i."""
        jobs = np.arange(len(fractions))
        return cls(np.column_stack([jobs, np.full(len(jobs), -1)]), fractions, objective)

    def parted(self, can: Array, first: float) -> Allocation:
        """The same, but pairs leave their time on types where they cannot share to their members alone.

        `can` is pairs x types; the first member gets the part `first` of that time, the second the rest.
        """
        paired = self.members[:, 1] >= 0
        left = np.where(can, 0.0, self.fractions[paired])
        fractions = self.fractions.copy()
        fractions[paired] -= left
        for jobs, part in zip(self.members[paired].T, (first, 1.0 - first)):
            np.add.at(fractions, jobs, part * left)
        return replace(self, fractions=fractions)

    def throughputs(self, problem: Problem) -> Array:
        """steps/s that each job gets of these fractions."""
        first, second = self.members.T
        paired = second >= 0
        found = np.zeros(len(problem.jobs))
        alone = first[~paired]
        found[alone] += (problem.throughput[alone] * self.fractions[~paired]).sum(axis=1)
        if paired.any():
            assert problem.pairs is not None
            kind, beside = problem.pairs.kind, problem.pairs.throughput
            a, b, part = first[paired], second[paired], self.fractions[paired]
            np.add.at(found, a, (beside[kind[a], kind[b]] * part).sum(axis=1))
            np.add.at(found, b, (beside[kind[b], kind[a]] * part).sum(axis=1))
        return found
