"""The linear programs behind Gavel's policies, all of one family, over kinds of jobs instead of jobs.

    maximise   t + sum over rows and types of gain x fraction
    such that  every job is busy at most all of its time, every GPU type at most all of its GPUs,
               speed_i >= floor_i + rise_i t   for every job i

Jobs that are alike in everything that the program reads are interchangeable, and the problem is convex, so
there is an optimum that treats them alike: it is found over kinds, each with its number of jobs, and dealt
out evenly. A column is a (combination, type): one kind alone, or two kinds (or two jobs of a kind) sharing
GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from blox.errors import BloxError
from blox.schedulers.gavel.problem import Pairs, Problem
from blox.workloads.table import Array

MOST_PAIRS = 1_200_000  # about 1,500 kinds: a gigabyte of memory and a few minutes


@dataclass(frozen=True, eq=False)
class Program:
    """A program over `count[k]` jobs of each kind k; every array is per kind unless said.

    Columns are (combination, type), combinations in the order alone, two kinds, two of a kind: `first` and
    `second` (-1: none) are kinds, `speed_first` and `speed_second` steps/s (combinations x types). A column
    counts jobs x time: a fraction of 1.5 is one and a half jobs all the time. `kind_of` leads from jobs to
    kinds.
    """

    kind_of: Array
    count: Array
    width: Array
    gpus: Array  # per type
    first: Array
    second: Array
    speed_first: Array
    speed_second: Array
    rise: Array
    floor: Array
    gain: Array  # combinations x types
    level: bool = True  # whether t is maximised

    @cached_property
    def useful(self) -> Array:
        """The columns in which a job makes progress (combinations x types)."""
        return (self.speed_first > 0) | (self.speed_second > 0)

    @cached_property
    def ways(self) -> Array:
        """How many sets of jobs each combination stands for."""
        paired = self.second >= 0
        other = np.where(paired, self.count[self.second] - (self.first == self.second), 1.0)
        halves: Array = self.count[self.first] * other / np.where(self.first == self.second, 2.0, 1.0)
        return halves

    def speeds(self, x: Array) -> Array:
        """steps/s of all jobs of each kind together."""
        kinds = len(self.count)
        found = np.bincount(self.first, (self.speed_first * x).sum(axis=1), kinds)
        shared = self.second >= 0
        beside = (self.speed_second * x)[shared].sum(axis=1)
        both: Array = found + np.bincount(self.second[shared], beside, kinds)
        return both

    def with_levels(self, rise: Array, floor: Array, *, level: bool = True) -> Program:
        """The same columns under other demands."""
        return replace(self, rise=rise, floor=floor, level=level)


@dataclass(frozen=True, eq=False)
class Answer:
    """Fractions (combinations x types), the level t, and how much of it each kind decides (sum 1)."""

    x: Array
    t: float
    binding: Array


def program(
    problem: Problem,
    speed: Array,
    *,
    rise: Array | None = None,
    floor: Array | None = None,
    value: Array | None = None,
    type_value: Array | None = None,
    label: Array | None = None,
    packed: bool = False,
) -> Program:
    """The program of a problem, its jobs gathered into kinds.

    `speed` (jobs x types) is what the policy takes the throughput alone to be. `rise` and `floor` are per job
    (default 0); `value` says what a job's step/s is worth, `type_value` by what that is multiplied on each
    type. Jobs of different `label` are never of one kind.
    """
    zero = np.zeros(len(speed))
    rise = zero if rise is None else rise
    floor = zero if floor is None else floor
    value = zero if value is None else value
    type_value = np.ones(len(problem.gpus)) if type_value is None else type_value
    label = zero if label is None else label
    speed = np.where(problem.width[:, None] <= problem.gpus, speed, 0.0)
    shared = sharing(problem) if packed else None
    beside = zero if shared is None else shared.kind
    one_of, kind_of = _kinds(np.column_stack([beside, label, speed, problem.width, rise, floor, value]))
    size = np.bincount(kind_of, minlength=len(one_of)).astype(np.float64)
    kinds, wide = len(one_of), problem.width[one_of]
    first, second = np.arange(kinds), np.full(kinds, -1)
    speed_first, speed_second = speed[one_of], np.zeros((kinds, len(problem.gpus)))
    if shared is not None:
        a, b, left, right = _sharing_kinds(problem, shared, one_of, size)
        first, second = np.concatenate([first, a]), np.concatenate([second, b])
        speed_first = np.concatenate([speed_first, left])
        speed_second = np.concatenate([speed_second, right])
    worth = value[one_of]
    gain = (worth[first, None] * speed_first + worth[second, None] * speed_second) * type_value
    return Program(
        kind_of=kind_of,
        count=size,
        width=wide,
        gpus=problem.gpus,
        first=first,
        second=second,
        speed_first=speed_first,
        speed_second=speed_second,
        rise=rise[one_of],
        floor=floor[one_of],
        gain=gain,
    )


def _sharing_kinds(
    problem: Problem, shared: Pairs, one_of: Array, size: Array
) -> tuple[Array, Array, Array, Array]:
    """Every two kinds of which jobs can share GPUs, two of a kind last, and steps/s of each beside the other.

    `one_of` is a job of each kind, `size` how many there are. Too many pairs are an error.
    """
    kinds, wide = len(one_of), problem.width[one_of]
    a, b = np.triu_indices(kinds)
    fits = (wide[a] == wide[b]) & ((a != b) | (size[a] > 1))
    a, b = a[fits], b[fits]
    if len(a) > MOST_PAIRS:
        raise BloxError(
            f"{kinds} kinds of job could share in {len(a):,} ways; at most {MOST_PAIRS:,} are tried",
            where="gavel",
            fix="take the policy without _packed, or let jobs of a type have the same throughputs",
        )
    label_of = shared.kind[one_of]
    room = problem.gpus >= wide[a, None]
    left = np.where(room, shared.throughput[label_of[a], label_of[b]], 0.0)
    right = np.where(room, shared.throughput[label_of[b], label_of[a]], 0.0)
    some = ((left > 0) | (right > 0)).any(axis=1)
    apart = np.argsort(a[some] == b[some], kind="stable")
    return a[some][apart], b[some][apart], left[some][apart], right[some][apart]


def sharing(problem: Problem) -> Pairs:
    if problem.pairs is None:
        raise BloxError(
            "a policy that shares GPUs needs the throughputs of pairs",
            where="gavel",
            fix="give Problem.pairs, or use the policy without _packed",
        )
    return problem.pairs


def _kinds(rows: Array) -> tuple[Array, Array]:
    """(a job of each kind, the kind of each job): equal rows are of one kind; kinds by first appearance."""
    if len(rows) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    same = np.ascontiguousarray(rows + 0.0)  # + 0.0: one zero, not two
    number: dict[bytes, int] = {}
    one_of: list[int] = []
    kind_of = np.empty(len(rows), dtype=np.int64)
    for job, row in enumerate(same.view(f"V{same.shape[1] * 8}").ravel().tolist()):
        kind = number.setdefault(row, len(one_of))
        if kind == len(one_of):
            one_of.append(job)
        kind_of[job] = kind
    return np.array(one_of), kind_of
