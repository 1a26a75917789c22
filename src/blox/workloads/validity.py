"""What a valid trace is: the rules that every job obeys, stated once and checked for all jobs at a time.

The readers report every job that breaks one; `blox workload validate` prints the rules themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blox.workloads.table import LATEST_S, LONGEST_S, MOST_GPUS, Array

Columns = dict[str, Array]


@dataclass(frozen=True)
class Rule:
    """One rule about one column; `broken` is true for the jobs that break it (NaN counts as broken)."""

    column: str
    text: str
    needs: tuple[str, ...]
    broken: Callable[[Columns], Array]


def _in_order(low: str, high: str) -> Rule:
    return Rule(
        low,
        f"must not be above {high}, where both are given",
        (low, high),
        lambda c: (c[low] > c[high]) & (c[high] > 0),
    )


RULES = (
    Rule(
        "gpus",
        f"must be a whole number, 1 or more, and at most {MOST_GPUS:,}",
        ("gpus",),
        lambda c: ~((c["gpus"] >= 1) & (c["gpus"] <= MOST_GPUS)),
    ),
    Rule(
        "duration_s",
        f"must be a number above 0, and at most {LONGEST_S:,.0f} (31 years)",
        ("duration_s",),
        lambda c: ~((c["duration_s"] > 0) & (c["duration_s"] <= LONGEST_S)),
    ),
    Rule(
        "submit_s",
        f"must be a number, 0 or more, and at most {LATEST_S:,.0f}",
        ("submit_s",),
        lambda c: ~((c["submit_s"] >= 0) & (c["submit_s"] <= LATEST_S)),
    ),
    Rule(
        "share_milli",
        "must be between 1 and 1000",
        ("share_milli",),
        lambda c: ~((c["share_milli"] >= 1) & (c["share_milli"] <= 1000)),
    ),
    Rule(
        "min_gpus",
        "must be 0 (as many as it asks for) or between 1 and gpus",
        ("min_gpus", "gpus"),
        lambda c: ~((c["min_gpus"] >= 0) & (c["min_gpus"] <= c["gpus"])),
    ),
    Rule(
        "max_gpus",
        "must be 0 (as many as it asks for), or gpus or more",
        ("max_gpus", "gpus"),
        lambda c: ~((c["max_gpus"] == 0) | (c["max_gpus"] >= c["gpus"])),
    ),
    Rule("deadline_s", "must be 0 or more", ("deadline_s",), lambda c: c["deadline_s"] < 0),
    Rule("cpu", "must be 0 or more", ("cpu",), lambda c: c["cpu"] < 0),
    Rule("memory_gb", "must be 0 or more", ("memory_gb",), lambda c: c["memory_gb"] < 0),
    Rule("batch_size", "must be 0 or more", ("batch_size",), lambda c: c["batch_size"] < 0),
    Rule("min_batch_size", "must be 0 or more", ("min_batch_size",), lambda c: c["min_batch_size"] < 0),
    Rule("max_batch_size", "must be 0 or more", ("max_batch_size",), lambda c: c["max_batch_size"] < 0),
    _in_order("min_batch_size", "batch_size"),
    _in_order("batch_size", "max_batch_size"),
    _in_order("min_batch_size", "max_batch_size"),
    Rule("iterations", "must be above 0", ("iterations",), lambda c: c["iterations"] <= 0),
    Rule("iteration_s", "must be above 0", ("iteration_s",), lambda c: c["iteration_s"] <= 0),
)

UNIQUE_IDS = "job_id must not be empty, and no two jobs may share one"


def broken_rules(columns: Columns) -> list[tuple[Rule, Array]]:
    """Each rule that some job breaks, with the mask of those jobs."""
    checked = [(rule, rule.broken(columns)) for rule in RULES if all(name in columns for name in rule.needs)]
    return [(rule, mask) for rule, mask in checked if mask.any()]
