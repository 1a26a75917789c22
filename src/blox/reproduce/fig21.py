from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from blox.report.choices import Reigns
from blox.reproduce.answer import Cause, Finding, Table, Verdict
from blox.reproduce.fig15 import switching
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.synthesis import (
    AUTO,
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
class OneGpuJobs:
    """The same with the jobs of the paper's public code: one GPU each, Gavel's durations."""

    def cases(self, setting: Setting) -> list[Case]:
        workload, cluster = ("gavel:load=8", "32x4") if setting.full else ("gavel:load=2", "8x4")
        # Many jobs are present, and choices take long.
        options = BOTH if setting.full else f"{BOTH},every=120,horizon=24h"
        (case,) = auto_cases(setting, "", options=options, seeds=setting.seeds(quick=1, full=1))
        run = replace(case.experiment, workload=workload, cluster=cluster)
        return [Case(AUTO, 0.0, run if setting.full else replace(run, window="100-200"))]

    def cause(self, done: Sequence[Done]) -> Cause:
        found = reigns(done[0])
        assert found is not None, "the synthesizer's runs make choices"
        order = rulers(found)
        verdict = judge(order)
        answer = (
            "There, with jobs of 16.8 h on average that come 5 % faster than they can be done, by the same "
            f"rule it {verdict.word}: {verdict.reason}."
        )
        question = "And with the jobs of the original's public code, one GPU each with Gavel's durations?"
        return Cause(question, answer, Table(("ruled", "of the time"), shares(found)), (drawn(found, ""),))


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
    probes = (OneGpuJobs(),)

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
        return Finding(table, (drawn(found, ""),), judge(rulers(found)))


def shares(found: Reigns) -> tuple[tuple[str, str], ...]:
    """How long each combination ruled, and how often that changed."""
    rows = [
        (short(name), f"{100 * found.share(at):.1f} %")
        for at, name in enumerate(found.name)
        if found.bars(at)
    ]
    return (*rows, ("changes a day", f"{switching(found).changes_a_day:.1f}"))


def rulers(found: Reigns) -> list[str]:
    """The combinations in the order in which they ruled, from that on with which the run begins."""
    order = [short(found.name[0])]
    for at in found.ruling.tolist():
        if order[-1] != short(found.name[at]):
            order.append(short(found.name[at]))
    return order


def judge(order: Sequence[str]) -> Verdict:
    """The rule, from the combinations in the order of ruling; the first one rules before any choice."""
    shown = " → ".join(order[:5]) + (f" → ... → {order[-1]}" if len(order) > 5 else "")
    facts = f"the order was {shown} ({len(order) - 1} changes)"
    if not "".join(order[1:2]).startswith("LAS"):
        return Verdict("does not hold", facts)
    return Verdict("holds" if order[-1].startswith("FIFO") else "holds in part", facts)


PAGE = Figure21()
