"""From kinds back to jobs: what a kind gets is dealt out evenly."""

from __future__ import annotations

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.program import Program
from blox.workloads.table import Array


def deal(found: Program, x: Array, objective: float = float("nan")) -> Allocation:
    """The fractions of kinds dealt out evenly to their jobs, and to all pairs of them that share."""
    kinds, jobs = len(found.count), np.arange(len(found.kind_of))
    members = np.column_stack([jobs, np.full(len(jobs), -1)])
    alone = (x[:kinds] / found.count[:, None])[found.kind_of]
    busy = kinds + np.flatnonzero(x[kinds:].any(axis=1))
    if not len(busy):
        return Allocation(members, alone, objective)
    count = found.count.astype(np.int64)
    in_order, start = np.argsort(found.kind_of, kind="stable"), np.cumsum(count) - count
    a, b = found.first[busy], found.second[busy]
    sets = count[a] * count[b]
    row = np.repeat(np.arange(len(busy)), sets)
    inside = np.arange(len(row)) - np.repeat(np.cumsum(sets) - sets, sets)
    one, two = np.divmod(inside, count[b][row])
    each = (a != b)[row] | (one < two)  # of two jobs of a kind, one pair and not two
    row, one, two = row[each], one[each], two[each]
    pairs = np.column_stack([in_order[start[a][row] + one], in_order[start[b][row] + two]])
    pairs.sort(axis=1)
    parts = (x[busy] / found.ways[busy, None])[row]
    return Allocation(np.concatenate([members, pairs]), np.concatenate([alone, parts]), objective)
