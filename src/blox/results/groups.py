"""Groups of jobs by the values of a column: what figures are broken down by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.workloads.table import Array

NO_VALUE = "(none)"


@dataclass(frozen=True)
class Group:
    """Some jobs, as ascending row numbers, and what they have in common: a number, a text, or a range."""

    value: Any
    rows: Array


def groups_of(
    values: Array, rows: Array, *, most: int | None = None, weight: Array | None = None
) -> list[Group]:
    """The rows by their value, in order of the values; jobs without a value come last.

    Where that makes more than `most` groups, numbers are put together by range: by powers of two if they are
    whole and above 0, otherwise so that each has a quarter of the jobs. Of texts, the `most` with the largest
    sum of `weight` (by row; default: the number of jobs) keep a group, and the others are one.
    """
    here = values[rows]
    if here.dtype.kind in "biuf":
        return _numbers(here, rows, most)
    names = np.array([str(value) if value != "" else NO_VALUE for value in here.tolist()], dtype=object)
    found = _by_value(names, rows)
    found.sort(key=lambda group: (group.value == NO_VALUE, group.value))
    if most is None or len(found) <= most:
        return found
    size = {
        group.value: float(len(group.rows) if weight is None else weight[group.rows].sum()) for group in found
    }
    largest = set(sorted(size, key=lambda name: (-size[name], name))[:most])
    rest = [group.rows for group in found if group.value not in largest]
    others = Group(f"({len(rest):,} others)", np.sort(np.concatenate(rest)))
    return [*(group for group in found if group.value in largest), others]


def _numbers(here: Array, rows: Array, most: int | None) -> list[Group]:
    known = ~np.isnan(here) if here.dtype.kind == "f" else np.ones(len(here), dtype=bool)
    absent = [Group(NO_VALUE, rows[~known])] if not known.all() else []
    here, kept = here[known], rows[known]
    if here.dtype.kind == "f" and (here == np.floor(here)).all() and (np.abs(here) < 2.0**53).all():
        here = here.astype(np.int64)
    if most is None or len(np.unique(here)) <= most:
        return [*_by_value(here, kept), *absent]
    if here.dtype.kind == "i" and here.min() > 0:
        edges = 2 ** np.arange(int(here.max() - 1).bit_length() + 1)  # 1, 2, 4, ...: upper ends
    else:
        edges = np.unique(np.quantile(here, [0.25, 0.5, 0.75, 1.0], method="higher"))
    part = np.unique(edges.searchsorted(here), return_inverse=True)[1]
    part = np.minimum(part, most - 1)  # the last range takes what is above
    ranges = [Group(_range(here[part == each]), kept[part == each]) for each in range(int(part.max()) + 1)]
    return [*ranges, *absent]


def _by_value(values: Array, rows: Array) -> list[Group]:
    names, number = np.unique(values, return_inverse=True)
    order = np.argsort(number, kind="stable")
    ends = np.bincount(number, minlength=len(names)).cumsum()[:-1]
    return [
        Group(name, rows[members])
        for name, members in zip(names.tolist(), np.split(order, ends))
        if len(members)
    ]


def _range(values: Array) -> str:
    low, high = (_short(number) for number in (values.min().item(), values.max().item()))
    return low if low == high else f"{low}\N{EN DASH}{high}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
