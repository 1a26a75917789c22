from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blox.report.charts import Bar, Bars
from blox.reproduce.answer import Cause, Finding, Table, Verdict
from blox.reproduce.page import Case, Done, Measurement, Setting
from blox.reproduce.scheduler_parts import DIFFERENCES, PAPER, by_abstraction, counted

MOST, FEW_ABSTRACTIONS, FEW_LINES = 4, 3, 1000
GAVEL = "blox.schedulers.gavel."
# What the original takes from a library or leaves out, by scheduler: beginnings of modules.
BEYOND = {
    "Gavel": (
        ("its solver of linear programs (the original calls CVXPY)", (f"{GAVEL}solver.",), ()),
        ("policies besides LAS", (f"{GAVEL}policies.",), (f"{GAVEL}policies.max_min_fairness",)),
        ("learning throughputs of pairs", (f"{GAVEL}learnt", f"{GAVEL}estimator"), ()),
    ),
    "Optimus": (
        (
            "learning convergence and speed (the original's are constants)",
            tuple(f"blox.schedulers.optimus.{name}" for name in ("convergence", "speed", "beliefs")),
            (),
        ),
        (
            "speeds of elastic jobs, shared with Pollux",
            ("blox.performance.", "blox.profiles.", "blox.backends."),
            (),
        ),
    ),
}


@dataclass(frozen=True)
class Beyond:
    """The schedulers that take most, without what goes beyond the original's."""

    def cases(self, setting: Setting) -> list[Case]:
        return []

    def cause(self, done: Sequence[Done]) -> Cause:
        found = counted()
        rows, words = [], []
        for name, pieces in BEYOND.items():
            left = dict(found[name])
            rows.append((name, "all of it", f"{sum(left.values()):,}"))
            for about, beginnings, kept in pieces:
                piece = [
                    each
                    for each in left
                    if each.startswith(beginnings) and not (kept and each.startswith(kept))
                ]
                rows.append((name, about, f"-{sum(left.pop(each) for each in piece):,}"))
            rows.append((name, "the rest", f"{sum(left.values()):,}"))
            words.append(f"{name} has {sum(left.values()):,} lines (the paper's {PAPER[name].lines:,})")
        answer = f"What goes beyond the original's. Without it {' and '.join(words)}."
        heads = ("scheduler", "what", "lines of code")
        return Cause(
            "What makes Gavel and Optimus larger than the paper's?", answer, Table(heads, tuple(rows))
        )


@dataclass(frozen=True)
class Table3(Measurement):
    """Modules and lines that each scheduler adds to FIFO, counted in our own tree."""

    title = "Modules and lines that each scheduler adds"
    claim = (
        "Starting from FIFO, most schedulers change two or three abstractions and take some hundreds of "
        "lines of code; Pollux and Synergy take more than a thousand."
    )
    rule = (
        f"Holds if at least {MOST} of the seven schedulers change at most {FEW_ABSTRACTIONS} abstractions "
        f"and add fewer than {FEW_LINES:,} lines of code each; in part if so many meet one of the limits; "
        "otherwise it does not hold."
    )
    differences = DIFFERENCES
    probes = (Beyond(),)

    def setup(self, setting: Setting) -> str:
        return "The imports and lines of blox's own sources, read, not run; no seed has a part in it."

    def measure(self, setting: Setting) -> Mapping[str, Any]:
        return counted()

    def judged(self, measured: Mapping[str, Any]) -> Finding:
        rows = tuple(
            (
                name,
                ", ".join(by_abstraction(measured[name])),
                f"{len(measured[name])}",
                f"{sum(measured[name].values()):,}",
                ", ".join(claimed.abstractions),
                f"{claimed.lines:,}",
            )
            for name, claimed in PAPER.items()
        )
        sizes = {name: (len(by_abstraction(each)), sum(each.values())) for name, each in measured.items()}
        bars = (
            Bar("the paper", tuple(float(claimed.lines) for claimed in PAPER.values())),
            Bar("ours", tuple(float(sizes[name][1]) for name in PAPER)),
        )
        heads = ("scheduler", "abstractions", "modules", "lines of code", "the paper's", "its lines")
        chart = Bars(tuple(PAPER), "lines of code added to FIFO", bars)
        return Finding(Table(heads, rows), (chart,), judge(sizes))


def judge(sizes: Mapping[str, tuple[int, int]]) -> Verdict:
    """The rule, from (abstractions, lines) by scheduler."""
    few = {name for name, (abstractions, _) in sizes.items() if abstractions <= FEW_ABSTRACTIONS}
    short = {name for name, (_, lines) in sizes.items() if lines < FEW_LINES}
    facts = (
        f"{len(few)} of {len(sizes)} change at most {FEW_ABSTRACTIONS} abstractions, {len(short)} add fewer "
        f"than {FEW_LINES:,} lines, {len(few & short)} do both"
    )
    if len(few & short) >= MOST:
        return Verdict("holds", facts)
    return Verdict("holds in part" if max(len(few), len(short)) >= MOST else "does not hold", facts)


PAGE = Table3()
