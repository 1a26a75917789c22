"""Policies with sharing whose programs have many optima, with the one at which the original's solver ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.compat.gavel.chosen import bisected, isolated_so_far
from blox.compat.gavel.conic import Found, solve
from blox.compat.gavel.pairs import Shares
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.policies.by_name import Policy
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.solver.program import sharing
from blox.workloads.table import Array


@dataclass(frozen=True)
class PackedMaxMin:
    """Max-min fairness with sharing: jobs of one type, width and weight are one kind."""

    otherwise: Policy
    packed = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        if not len(problem.jobs):
            return self.otherwise.allocate(problem, memory)
        alike = np.column_stack([sharing(problem).kind, problem.width, problem.weight])
        _, one_of, kind = np.unique(alike, axis=0, return_index=True, return_inverse=True)
        per_level = problem.width / problem.weight / problem.proportional
        kind = kind.ravel()
        program = _shares(problem, one_of, kind, per_level, 1.0, np.zeros(len(one_of)))
        return _dealt(program, kind, solve(program)) or self.otherwise.allocate(problem, memory)


@dataclass(frozen=True)
class PackedDuration:
    """Makespan with sharing, bisected as without."""

    otherwise: Policy
    packed = True
    reads_durations = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        best = self.otherwise.allocate(problem, memory)
        if not len(problem.jobs) or not 0.0 < best.objective < np.inf:
            return best
        every = np.arange(len(problem.jobs))
        least = problem.remaining_steps / bisected(best.objective)
        program = _shares(problem, every, every, np.ones(len(every)), 0.0, least)
        return _dealt(program, every, solve(program)) or best


@dataclass(frozen=True)
class PackedFinishTime:
    """Finish-time fairness with sharing; throughputs, but not those in isolation, are divided by weights."""

    otherwise: Policy
    packed = True
    reads_durations = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        memory = {} if memory is None else memory
        if not len(problem.jobs):
            memory.clear()
            return self.otherwise.allocate(problem, memory)
        alone = (problem.isolated_fractions() * problem.throughput).sum(axis=1)
        before = dict(memory)
        usual = isolated_so_far(problem, alone, memory) + problem.remaining_steps / alone
        every = np.arange(len(problem.jobs))
        program = _shares(
            problem,
            every,
            every,
            1.0 / problem.weight,
            1.0,
            np.zeros(len(every)),
            problem.remaining_steps / usual,
            problem.elapsed_s / usual,
        )
        return _dealt(program, every, solve(program)) or self.otherwise.allocate(problem, before)


def _shares(
    problem: Problem,
    one_of: Array,
    kind: Array,
    unit: Array,
    goal: float,
    least: Array,
    steps: Array | None = None,
    late: Array | None = None,
) -> Shares:
    """The program over kinds, with every pair of equal width: those that cannot share are worth nothing.

    `one_of` is a job of each kind, `kind` the kind of each job, `unit` what a step/s is worth to each job.
    """
    pairs, count = sharing(problem), np.bincount(kind, minlength=len(one_of))
    width, label, unit = problem.width[one_of], pairs.kind[one_of], unit[one_of]
    a, b = np.triu_indices(len(one_of))
    fits = (width[a] == width[b]) & ((a != b) | (count[a] > 1))
    a, b = a[fits], b[fits]
    alone = np.column_stack([np.arange(len(one_of)), np.full(len(one_of), -1)])
    first = np.concatenate([problem.throughput[one_of], pairs.throughput[label[a], label[b]]])
    second = np.concatenate(
        [np.zeros(alone.shape[:1] + problem.gpus.shape), pairs.throughput[label[b], label[a]]]
    )
    combinations = np.concatenate([alone, np.column_stack([a, b])])
    mine, theirs = (  # the original keeps them in single precision
        (speed * unit[member, None]).astype(np.float32).astype(np.float64)
        for speed, member in ((first, combinations[:, 0]), (second, combinations[:, 1]))
    )
    return Shares(combinations, count, width, problem.gpus, mine, theirs, goal, least, steps, late)


def _dealt(program: Shares, kind: Array, found: Found) -> Allocation | None:
    """Every job, or pair of jobs, has what its kinds have; None where the solver found nothing."""
    if found.status != "optimal":
        return None
    kinds = len(program.count)
    row = np.full((kinds, kinds), -1)
    paired = np.arange(kinds, len(program.combinations))
    first, second = program.combinations[kinds:].T
    row[first, second] = row[second, first] = paired
    i, k = np.triu_indices(len(kind), 1)
    of_pair = row[kind[i], kind[k]]
    i, k, of_pair = i[of_pair >= 0], k[of_pair >= 0], of_pair[of_pair >= 0]
    jobs = np.arange(len(kind))
    members = np.concatenate([np.column_stack([jobs, np.full(len(jobs), -1)]), np.column_stack([i, k])])
    fractions = found.variables[np.concatenate([kind, of_pair])]
    return Allocation(members, np.clip(fractions, 0.0, 1.0))
