from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blox.report.choices import Reigns
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.synthesis import (
    BOTH,
    DIFFERENCES,
    PLAIN,
    WORKLOADS,
    auto_cases,
    drawn,
    reigns,
    rulers,
    short,
    shown,
    switching,
    window,
)
from blox.reproduce.synthesis_causes import Steps


def verdict(chosen: Mapping[str, Reigns]) -> Verdict:
    """The rule, from the choices on the one workload."""
    return judge(rulers(chosen[PLAIN]))


def judge(order: Sequence[str]) -> Verdict:
    """The rule, from the combinations in the order of ruling; the first one rules before any choice."""
    shown = " → ".join(order[:5]) + (f" → ... → {order[-1]}" if len(order) > 5 else "")
    facts = f"the order was {shown} ({len(order) - 1} changes)"
    if not "".join(order[1:2]).startswith("LAS"):
        return Verdict("does not hold", facts)
    return Verdict("holds" if order[-1].startswith("FIFO") else "holds in part", facts)


@dataclass(frozen=True)
class Figure21(Page):
    """Which combination ruled when, with two objectives."""

    title = "Which policies the synthesizer chose for two objectives"
    claim = (
        "With both objectives the synthesizer first uses LAS, then LAS behind admission thresholds, and "
        "finally FIFO, as preemptions make the JCT grow."
    )
    rule = (
        "Holds if LAS (behind any threshold) is the first to take over and FIFO rules at the end; in part if "
        "LAS is the first and another one rules at the end; otherwise it does not hold."
    )
    differences = (
        *DIFFERENCES,
        "Ours begins with the first of its list, FIFO, and changes when another is better.",
    )
    probes = (Steps(BOTH, (PLAIN,), verdict),)

    def setup(self, setting: Setting) -> str:
        return (
            f"The synthesizer's run of Figure 20: {shown(setting)}, {BOTH}, a choice every 10 rounds "
            "or more. Jobs "
            f"{window(setting)} are measured; drawn is the first seed."
        )

    def cases(self, setting: Setting) -> list[Case]:
        return auto_cases(setting, WORKLOADS[PLAIN], options=BOTH)

    def finding(self, done: Sequence[Done]) -> Finding:
        found = reigns(done[0])
        assert found is not None, "the synthesizer's runs make choices"
        table = Table(("ruled", "of the time"), shares(found))
        return Finding(table, (drawn(found, ""),), verdict({PLAIN: found}))


def shares(found: Reigns) -> tuple[tuple[str, str], ...]:
    """How long each combination ruled, and how often that changed."""
    rows = [
        (short(name), f"{100 * found.share(at):.1f} %")
        for at, name in enumerate(found.name)
        if found.bars(at)
    ]
    return (*rows, ("changes a day", f"{switching(found).changes_a_day:.1f}"))


PAGE = Figure21()
