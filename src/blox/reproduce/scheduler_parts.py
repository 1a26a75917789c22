"""The seven schedulers of the paper's Tables 3 and 7, what it says of each, and ours by their parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blox.reproduce import source_tree


@dataclass(frozen=True)
class Claimed:
    """What Table 3 says of a scheduler: the abstractions that it changes and the lines that it adds."""

    abstractions: tuple[str, ...]
    lines: int


SCHEDULING, PLACEMENT = "Scheduling Policy", "Placement Policy"
METRICS, WORKLOAD = "Metric Collection", "Workload Generation"
PAPER = {
    "LAS": Claimed((SCHEDULING,), 12),
    "Tiresias": Claimed((SCHEDULING, PLACEMENT), 295),
    "Optimus": Claimed((SCHEDULING, METRICS, PLACEMENT), 246),
    "Gavel": Claimed((SCHEDULING, METRICS, PLACEMENT), 539),
    "Pollux": Claimed((SCHEDULING, METRICS, WORKLOAD), 1157),
    "Themis": Claimed((SCHEDULING, METRICS), 745),
    "Synergy": Claimed((SCHEDULING, PLACEMENT, WORKLOAD), 1137),
}
PARTS = {
    "LAS": {"scheduling": "las"},
    "Tiresias": {"scheduling": "tiresias", "placement": "tiresias"},
    "Optimus": {"scheduling": "optimus", "performance": "goodput"},
    "Gavel": {"scheduling": "gavel", "performance": "throughputs"},
    "Pollux": {"scheduling": "pollux", "performance": "goodput", "workload": "elastic"},
    "Themis": {"scheduling": "themis"},
    "Synergy": {"placement": "synergy", "performance": "sensitivity", "workload": "synergy"},
}
DIFFERENCES = (
    "Counted are modules that a scheduler's parts import and FIFO's do not; a module that two schedulers "
    "share counts for both. The paper counts what was added or changed by hand.",
    "Lines are lines that hold code, without blank lines, comments and docstrings; the paper does not say "
    "which it counts.",
    "A performance model is our metric collection: what is measured of a job and how fast it runs by that.",
    "Optimus places its jobs in its own scheduling package; Synergy brings no order of its own and is a "
    "placement here.",
)


def counted() -> dict[str, dict[str, int]]:
    """Scheduler -> module -> lines of code: what it adds to FIFO."""
    base = source_tree.fifo_modules()
    return {
        name: {module: source_tree.code_lines(module) for module in source_tree.added(parts, base)}
        for name, parts in PARTS.items()
    }


def reused() -> int:
    """The lines of code that FIFO runs on."""
    return sum(map(source_tree.code_lines, source_tree.fifo_modules()))


def by_abstraction(modules: Mapping[str, Any]) -> dict[str, list[str]]:
    """Abstraction -> the modules that belong to it."""
    found: dict[str, list[str]] = {}
    for module in modules:
        found.setdefault(source_tree.abstraction(module), []).append(module)
    return found
