from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blox.report.charts import Bar, Bars
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.page import Measurement, Setting
from blox.reproduce.scheduler_parts import DIFFERENCES, PAPER, by_abstraction, counted, reused

LARGE = 0.75  # of the code that a scheduler runs on


@dataclass(frozen=True)
class Table7(Measurement):
    """Which abstractions each scheduler changes, with which modules, and how much it reuses."""

    title = "Abstractions that each scheduler changes"
    claim = "Building a scheduler reuses large parts of the code: each changes a few abstractions alone."
    rule = (
        "Holds if at least three quarters of the lines of code that each scheduler runs on are those that "
        "FIFO runs on; in part if that is so of most of them; otherwise it does not hold."
    )
    differences = DIFFERENCES

    def setup(self, setting: Setting) -> str:
        return (
            "The imports and lines of blox's own sources: what each scheduler adds, by abstraction, and what "
            "FIFO runs on (its parts, the loop, the state, the simulation, results)."
        )

    def measure(self, setting: Setting) -> Mapping[str, Any]:
        return {"added": counted(), "reused": reused()}

    def judged(self, measured: Mapping[str, Any]) -> Finding:
        added, base = measured["added"], measured["reused"]
        rows = []
        for name in PAPER:
            found = by_abstraction(added[name])
            for abstraction in dict.fromkeys((*PAPER[name].abstractions, *found)):
                modules = found.get(abstraction, [])
                lines = sum(added[name][module] for module in modules)
                rows.append(
                    (
                        name,
                        abstraction,
                        "yes" if abstraction in PAPER[name].abstractions else "",
                        _short(modules) or "nothing",
                        f"{lines:,}",
                    )
                )
        shares = {name: base / (base + sum(added[name].values())) for name in PAPER}
        heads = ("scheduler", "abstraction", "the paper", "what ours adds", "lines of code")
        bar = Bar("reused", tuple(100 * share for share in shares.values()))
        chart = Bars(tuple(shares), "lines of code that FIFO runs on too (%)", (bar,))
        note = f"FIFO runs on {base:,} lines of code."
        return Finding(Table(heads, tuple(rows)), (chart,), judge(shares), (note,))


def judge(shares: Mapping[str, float]) -> Verdict:
    """The rule, from the share of code that each scheduler has in common with FIFO."""
    large = [name for name, share in shares.items() if share >= LARGE]
    least = min(shares, key=lambda name: shares[name])
    facts = (
        f"of the code that a scheduler runs on {100 * shares[least]:.0f} % ({least}) to "
        f"{100 * max(shares.values()):.0f} % are FIFO's"
    )
    if len(large) == len(shares):
        return Verdict("holds", facts)
    return Verdict("holds in part" if 2 * len(large) > len(shares) else "does not hold", facts)


def _short(modules: list[str]) -> str:
    """`schedulers/las.py, schedulers/gavel/ (32 modules)`: a folder of its own counts as one."""
    folders: dict[str, list[str]] = {}
    for module in modules:
        words = module.split(".")[1:]
        name = "/".join(words[:2]) if len(words) > 2 else "/".join(words)
        folders.setdefault(name, []).append("/".join(words))
    return ", ".join(
        f"{name}/ ({len(files)} modules)" if len(files) > 1 else f"{files[0]}.py"
        for name, files in folders.items()
    )


PAGE = Table7()
