from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.solver.program import sharing
from blox.workloads.table import Array


@dataclass(frozen=True)
class Gandiva:
    """Where GPUs are too few, jobs of equal width are paired at random; bad pairs are parted (OSDI'18).

    Time is shared equally among pairs and single jobs. A pair is parted when a member leaves, or when both
    throughputs over those alone come to less than `threshold` together. On average over the types: the
    original adds them up over all types instead, so that a pair may be three times as bad, and parts a pair
    that cannot run on one of them: `sum_over_types` does that too. The draws come from `random.Random(seed)`,
    kept in `memory` with the pairs.
    """

    seed: int = 0
    threshold: float = 1.0
    sum_over_types: bool = False
    packed = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        memory = {} if memory is None else memory
        draws: random.Random = memory.setdefault("draws", random.Random(self.seed))
        partner: dict[int, int] = memory.setdefault("partner", {})
        if problem.width.sum() <= problem.gpus.sum():
            return self._share(problem, [(job, -1) for job in range(len(problem.jobs))])
        at = {job: position for position, job in enumerate(problem.jobs.tolist())}
        self._part(problem, at, partner)
        free = [job for job in at if job not in partner]
        for _ in range(len(free)):  # so many tries, however many find jobs of equal width
            if len(free) < 2:
                break
            one, two = draws.sample(free, 2)
            if problem.width[at[one]] == problem.width[at[two]]:
                partner[one], partner[two] = two, one
                free = [job for job in free if job not in (one, two)]
        paired = {(min(at[a], at[b]), max(at[a], at[b])) for a, b in partner.items()}
        return self._share(problem, sorted(paired) + [(at[job], -1) for job in free])

    def _part(self, problem: Problem, at: dict[int, int], partner: dict[int, int]) -> None:
        pairs = sharing(problem)
        for job, other in list(partner.items()):
            if job in at and other in at:
                i, j = at[job], at[other]
                mine = pairs.throughput[pairs.kind[i], pairs.kind[j]]
                theirs = pairs.throughput[pairs.kind[j], pairs.kind[i]]
                if self._good(mine, theirs, problem.throughput[i], problem.throughput[j]):
                    continue
            partner.pop(job, None)
            partner.pop(other, None)

    def _good(self, mine: Array, theirs: Array, alone: Array, alone_theirs: Array) -> bool:
        """Whether two jobs do well together, from the throughputs of both on every type, shared and alone."""
        both = (mine > 0) & (theirs > 0)
        if self.sum_over_types and not both.all():
            return False
        part = mine[both] / alone[both] + theirs[both] / alone_theirs[both]
        types = 1 if self.sum_over_types else max(np.count_nonzero((alone > 0) & (alone_theirs > 0)), 1)
        return bool(part.sum() / types >= self.threshold)

    def _share(self, problem: Problem, rows: list[tuple[int, int]]) -> Allocation:
        """Every row the same part of every type."""
        count = len(problem.jobs)
        pairs = np.array([row for row in rows if row[1] >= 0], dtype=np.int64).reshape(-1, 2)
        single = np.array([a for a, b in rows if b < 0], dtype=np.int64)
        width = np.concatenate([problem.width, problem.width[pairs[:, 0]]])
        parts = problem.gpus / max(len(rows), 1) / width[:, None]
        parts = parts / np.maximum(parts.sum(axis=1, keepdims=True), 1.0)
        chosen = np.zeros(len(width), dtype=bool)
        chosen[single], chosen[count:] = True, True
        jobs = np.column_stack([np.arange(count), np.full(count, -1)])
        return Allocation(np.concatenate([jobs, pairs]), np.where(chosen[:, None], parts, 0.0))
