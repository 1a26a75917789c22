"""From kinds back to jobs: what a kind gets is dealt out evenly, every job of a kind the same."""

from __future__ import annotations

from typing import Literal

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.solver.program import Program
from blox.workloads.table import Array

Partners = Literal["all", "few"]


def deal(found: Program, x: Array, objective: float = float("nan"), partners: Partners = "all") -> Allocation:
    """The fractions of kinds (combinations x types) as fractions of jobs and pairs of jobs.

    Two kinds that share do so in all pairs of their jobs alike (`all`), or in as few pairs as give every job
    its part (`few`): for 100 jobs of each, 10,000 rows or 100.
    """
    kinds, jobs = len(found.count), np.arange(len(found.kind_of))
    members = np.column_stack([jobs, np.full(len(jobs), -1)])
    alone = (x[:kinds] / found.count[:, None])[found.kind_of]
    busy = kinds + np.flatnonzero(x[kinds:].any(axis=1))
    if not len(busy):
        return Allocation(members, alone, objective)
    count = found.count.astype(np.int64)
    in_order, start = np.argsort(found.kind_of, kind="stable"), np.cumsum(count) - count
    a, b = found.first[busy], found.second[busy]
    row, one, two, part = _few(a, b, count) if partners == "few" else _all(a, b, count)
    pairs = np.column_stack([in_order[start[a][row] + one], in_order[start[b][row] + two]])
    pairs.sort(axis=1)
    fractions = np.concatenate([alone, x[busy][row] * part[:, None]])
    return Allocation(np.concatenate([members, pairs]), fractions, objective)


def _all(a: Array, b: Array, count: Array) -> tuple[Array, Array, Array, Array]:
    """(row, job of its first kind, job of its second, part of the row's time) of every pair of jobs."""
    sets = count[a] * count[b]
    row = np.repeat(np.arange(len(a)), sets)
    inside = np.arange(len(row)) - np.repeat(np.cumsum(sets) - sets, sets)
    one, two = np.divmod(inside, count[b][row])
    each = (a != b)[row] | (one < two)  # of two jobs of a kind, one pair and not two
    row, one, two = row[each], one[each], two[each]
    ways = np.where(a == b, count[a] * (count[a] - 1) / 2, sets)
    return row, one, two, (1.0 / ways)[row]


def _few(a: Array, b: Array, count: Array) -> tuple[Array, Array, Array, Array]:
    """As `_all`: both kinds' jobs in a line of the same length, and a pair wherever two of them overlap."""
    found = []
    for row, (first, second) in enumerate(zip(count[a].tolist(), count[b].tolist())):
        if a[row] == b[row]:  # each with the next one, round the ring
            one = np.arange(first if first > 2 else 1)
            found.append((np.full(len(one), row), one, (one + 1) % first, np.full(len(one), 1.0 / len(one))))
            continue
        ends = np.union1d(np.arange(1, first + 1) * second, np.arange(1, second + 1) * first)
        length = np.diff(ends, prepend=0)
        begin = ends - length
        found.append((np.full(len(ends), row), begin // second, begin // first, length / (first * second)))
    rows, one, two, part = (np.concatenate(each) for each in zip(*found))
    return rows, one, two, part
