"""A sentence about the jobs that wait far longer than the averages tell."""

from __future__ import annotations

from typing import Any

from blox.report import units
from blox.report.measures import as_number
from blox.report.run import Run

_LONG_S = 3600.0
_TIMES = 10.0  # so many times the average responsiveness is worth a sentence


def starving(run: Run) -> list[str]:
    """A sentence about the jobs of the GPU count that waits longest, where the average hides it."""
    by_gpus: dict[str, dict[str, Any]] = run.summary.get("waited_by_gpus") or {}
    waits = {count: as_number(figures.get("p95_s")) for count, figures in by_gpus.items()}
    usual = as_number(run.summary.get("avg_responsiveness_s"))
    worst = max(waits, key=lambda count: waits[count], default=None)
    if worst is None or not (waits[worst] >= _LONG_S and waits[worst] >= _TIMES * usual):
        return []
    longest = units.duration(as_number(by_gpus[worst].get("max_s")))
    jobs = as_number(by_gpus[worst].get("jobs"))
    size = f"{worst} GPU{'s' if worst != '1' else ''}"
    which = f"the one job of {size} waits" if jobs == 1 else f"the {units.number(jobs)} jobs of {size} wait"
    return [
        f"{which} {units.duration(waits[worst])} at p95 and {longest} at most, "
        f"while a job first starts after {units.duration(usual)} on average"
    ]
