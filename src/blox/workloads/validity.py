"""What a valid job is: the range of every column (from COLUMNS), and the rules between columns and ids.

`JobTable.validate` raises for the first job that breaks a rule, the readers report all of them by line,
`blox workload validate` prints the rules themselves. All three go through `broken_rules` and `repeated_ids`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.workloads.columns import COLUMNS, Array, Column

Columns = dict[str, Array]


@dataclass(frozen=True)
class Rule:
    """One rule about one column; `broken` is true for the jobs that break it."""

    column: str
    text: str
    needs: tuple[str, ...]
    broken: Callable[[Columns], Array]


def _range(column: Column) -> Rule:
    return Rule(column.name, column.rule, (column.name,), lambda c: column.out_of_range(c[column.name]))


def _ordered(low: str, high: str, *, blamed: str) -> Rule:
    text = f"must not be above {high}" if blamed == low else f"must not be below {low}"
    absent = COLUMNS[high].default  # of `low` it is below every valid value, or nan
    return Rule(
        blamed,
        f"{text}, where both are given",
        (low, high),
        lambda c: (c[low] > c[high]) & (True if absent is None else c[high] != absent),
    )


NAME = "must not be empty or blank, and hold no NUL character"
RULES = (
    Rule("job_id", NAME, ("job_id",), lambda c: _no_name(c["job_id"])),
    *(_range(column) for column in COLUMNS.values() if not column.is_text),
    _ordered("min_gpus", "gpus", blamed="min_gpus"),
    _ordered("gpus", "max_gpus", blamed="max_gpus"),
    _ordered("submit_s", "deadline_s", blamed="deadline_s"),
    _ordered("submit_s", "logged_start_s", blamed="logged_start_s"),
    _ordered("min_batch_size", "batch_size", blamed="min_batch_size"),
    _ordered("batch_size", "max_batch_size", blamed="batch_size"),
    _ordered("min_batch_size", "max_batch_size", blamed="min_batch_size"),
)

UNIQUE_IDS = "no two jobs may share a job_id"


def broken_rules(columns: Columns) -> list[tuple[Rule, Array]]:
    """Each rule that some job breaks, with the mask of those jobs; a value is blamed once."""
    found: list[tuple[Rule, Array]] = []
    blamed: dict[str, Array] = {}  # column -> jobs whose value has broken a rule already
    for rule in RULES:
        if any(name not in columns for name in rule.needs):
            continue
        broken = rule.broken(columns)
        for name in rule.needs:
            broken = broken & ~blamed[name] if name in blamed else broken
        if broken.any():
            found.append((rule, broken))
            blamed[rule.column] = blamed[rule.column] | broken if rule.column in blamed else broken
    return found


def repeated_ids(ids: Array) -> dict[int, int]:
    """The rows whose id an earlier row has, each with the first such row. Empty ids break another rule."""
    names = ids.tolist()
    if len(set(names)) == len(names):
        return {}
    first: dict[Any, int] = {}
    firsts = [first.setdefault(name, row) for row, name in enumerate(names)]
    return {row: earlier for row, earlier in enumerate(firsts) if earlier != row and str(names[row]).strip()}


def _no_name(ids: Array) -> Array:
    """Which ids are no names; at a NUL many programs stop reading."""
    if ids.dtype.kind != "O":
        return np.zeros(len(ids), dtype=bool)
    texts = map(str, ids.tolist())
    return np.fromiter((not text.strip() or "\0" in text for text in texts), dtype=bool, count=len(ids))
