"""Policies that walk a queue and give all the time of whole GPUs: FIFO and shortest job first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.policies.agnostic import at_reference
from blox.schedulers.gavel.problem import Problem
from blox.workloads.table import Array


@dataclass(frozen=True)
class FifoAware:
    """Jobs in order of age, each on the fastest type with room; the first that fits nowhere ends the walk.

    `packed`: then, as long as the queue's head does well together with a running job of its width, it joins
    the one with which it does best: the sum of both jobs' throughputs, each over its own alone, must exceed
    `threshold`. Starts from scratch at every call, so jobs may move.
    """

    packed: bool = False
    threshold: float = 1.5

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        alone, queue = _walk(problem, np.argsort(problem.jobs, kind="stable"))
        return _join(problem, alone, queue, self.threshold) if self.packed else _whole(problem, alone, [])


@dataclass(frozen=True)
class ShortestJobFirst:
    """The job that would be done first goes first, on the fastest type that has room for it (paper, Table 1).

    Done first: by remaining steps over its throughput on its fastest type, or with `aware=False` on
    `reference`. A job that fits nowhere is passed over. The paper writes it as a program whose optimum is
    this walk.
    """

    aware: bool = True
    reference: str = "v100"
    packed = False
    reads_durations = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        same = at_reference(problem, self.reference)
        fastest = problem.throughput.max(axis=1, initial=0.0) if self.aware else same
        left_s = problem.remaining_steps / fastest
        order = np.lexsort((problem.jobs, left_s))
        speed = problem.throughput if self.aware else np.where(problem.usable, 1.0, 0.0)
        alone, _ = _walk(problem, order, speed, pass_over=True)
        return _whole(problem, alone, [])


def _walk(
    problem: Problem, order: Array, speed: Array | None = None, pass_over: bool = False
) -> tuple[dict[int, int], list[int]]:
    """(job -> type, in the order of assignment; jobs left in the queue). Ties: the first type."""
    speed = problem.throughput if speed is None else speed
    free, width = problem.gpus.copy(), problem.width
    placed: dict[int, int] = {}
    queue = order.tolist()
    for at, job in enumerate(queue):
        room = free >= width[job]
        if not room.any():
            if pass_over:
                continue
            return placed, queue[at + 1 :]  # the original takes the job that did not fit off the queue, too
        best = int(np.where(room, speed[job], -1.0).argmax())
        if speed[job, best] > 0:
            placed[job] = best
            free[best] -= width[job]
        if not (free > 0).any():
            return placed, queue[at + 1 :]
    return placed, []


def _join(problem: Problem, alone: dict[int, int], queue: list[int], threshold: float) -> Allocation:
    if problem.pairs is None:
        raise BloxError(
            "a policy that shares GPUs needs the throughputs of pairs",
            where="gavel",
            fix="give Problem.pairs",
        )
    kind, beside = problem.pairs.kind, problem.pairs.throughput
    shared: list[tuple[int, int, int]] = []
    for job in queue:
        best, best_sum = -1, threshold
        for other, type_ in alone.items():
            if problem.width[other] != problem.width[job] or problem.throughput[job, type_] <= 0:
                continue
            first = beside[kind[other], kind[job], type_] / problem.throughput[other, type_]
            second = beside[kind[job], kind[other], type_] / problem.throughput[job, type_]
            if first + second > best_sum:
                best, best_sum = other, first + second
        if best < 0:
            break
        shared.append((min(job, best), max(job, best), alone.pop(best)))
    return _whole(problem, alone, shared)


def _whole(problem: Problem, alone: dict[int, int], shared: list[tuple[int, int, int]]) -> Allocation:
    """All the time of these jobs and pairs on these types."""
    count = len(problem.jobs)
    pairs = [(job, -1) for job in range(count)] + [(a, b) for a, b, _ in shared]
    members = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    fractions = np.zeros((len(members), len(problem.gpus)))
    for job, type_ in alone.items():
        fractions[job, type_] = 1.0
    for row, (_, _, type_) in enumerate(shared, count):
        fractions[row, type_] = 1.0
    return Allocation(members, fractions)
