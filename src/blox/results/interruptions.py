"""How often jobs had to stop and start again: preempted, moved, or evicted by a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blox.workloads.table import Array

KINDS = ("preemptions", "moves", "evictions")  # columns of jobs and figures of a summary, if a run has them


def interruptions(jobs: Mapping[str, Array], moves_are_preemptions: bool = False) -> int:
    """All interruptions of all jobs. `moves_are_preemptions`: moves are among the preemptions already."""
    kinds = [name for name in KINDS if name in jobs]
    if moves_are_preemptions:
        kinds.remove("moves")
    return sum(int(jobs[name].sum()) for name in kinds)


def kinds_of(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """The kinds that add up to the interruptions of a run: without moves where these are preemptions too."""
    kinds = tuple(name for name in KINDS if name in summary)
    others = tuple(name for name in kinds if name != "moves")
    return others if sum(summary[name] for name in others) == summary.get("interruptions") else kinds
