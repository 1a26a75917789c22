from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.report.choices import Reigns
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.fig15 import switching
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.synthesis import (
    BOTH,
    DIFFERENCES,
    PLAIN,
    WORKLOADS,
    auto_cases,
    drawn,
    reigns,
    short,
    shown,
    window,
)


@dataclass(frozen=True)
class Figure21(Page):
    """Which combination ruled when, with two objectives."""

    title = "Which policies the synthesizer chose for two objectives"
    claim = (
        "With both objectives the synthesizer first uses LAS, then LAS behind admission thresholds, and "
        "finally FIFO, as preemptions make the JCT grow."
    )
    rule = (
        "Holds if LAS (behind any threshold) rules first and FIFO at the end; in part if LAS rules first "
        "and another combination at the end; otherwise it does not hold."
    )
    differences = DIFFERENCES

    def setup(self, setting: Setting) -> str:
        return (
            f"The synthesizer's run of Figure 20: {shown(setting)}, {BOTH}, a choice every 10 rounds. Jobs "
            f"{window(setting)} are measured; drawn is the first seed."
        )

    def cases(self, setting: Setting) -> list[Case]:
        return auto_cases(setting, WORKLOADS[PLAIN], options=BOTH)

    def finding(self, done: Sequence[Done]) -> Finding:
        found = reigns(done[0])
        assert found is not None, "the synthesizer's runs make choices"
        order = rulers(found)
        rows = tuple(
            (short(name), f"{100 * found.share(at):.1f} %")
            for at, name in enumerate(found.name)
            if found.bars(at)
        )
        rows += (("changes a day", f"{switching(found).changes_a_day:.1f}"),)
        return Finding(Table(("ruled", "of the time"), rows), (drawn(found, ""),), judge(order))


def rulers(found: Reigns) -> list[str]:
    """The combinations in the order in which they came to rule."""
    order: list[str] = []
    for at in found.ruling.tolist():
        if not order or order[-1] != short(found.name[at]):
            order.append(short(found.name[at]))
    return order


def judge(order: Sequence[str]) -> Verdict:
    """The rule, from the combinations in the order of ruling."""
    shown = " → ".join(order[:6]) + (f" → ... ({len(order) - 1} changes)" if len(order) > 6 else "")
    facts = f"the order was {shown}"
    if not order[0].startswith("LAS"):
        return Verdict("does not hold", facts)
    if order[-1].startswith("FIFO"):
        return Verdict("holds", facts)
    return Verdict("holds in part" if order[-1] != order[0] else "does not hold", facts)


PAGE = Figure21()
