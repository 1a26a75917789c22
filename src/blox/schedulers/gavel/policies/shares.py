"""Closed forms: every job gets its part of every type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.problem import Problem


@dataclass(frozen=True)
class Isolated:
    """Every job gets the n-th part of every type, as if it were alone on a cluster of that size."""

    packed = False

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        return Allocation.of_jobs(problem.isolated_fractions())


@dataclass(frozen=True)
class Proportional:
    """Every job spends its time on the types in proportion to their GPUs, however many jobs there are.

    As in the original this is a yardstick, not a schedule: with more jobs than GPUs it asks for more than
    there is.
    """

    packed = False

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        return Allocation.of_jobs(np.tile(problem.share, (len(problem.jobs), 1)))
