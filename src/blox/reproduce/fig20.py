from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.curves import responsiveness_min, spreads
from blox.reproduce.fig14 import bars
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.synthesis import (
    AUTO,
    BOTH,
    DIFFERENCES,
    PLAIN,
    STATIC,
    UNFINISHED,
    WORKLOADS,
    auto_cases,
    best,
    jct_h,
    shown,
    static_cases,
    window,
)

NEAR, MINUTE = 0.10, 1.0  # off the best static combination: as a share, or in minutes of responsiveness


@dataclass(frozen=True)
class Figure20(Page):
    """The synthesizer with two objectives against every static combination."""

    title = "The synthesizer with two objectives: average JCT and responsiveness"
    claim = "The synthesizer is able to minimise average JCT and average responsiveness at the same time."
    rule = (
        "Holds if the synthesizer is at most 10 % above the best static combination in average JCT, and at "
        "most 10 % or one minute above the best one (which may be another) in responsiveness; in part if "
        "in one of the two; otherwise it does not hold."
    )
    unfinished = UNFINISHED
    differences = (
        *DIFFERENCES,
        "Each objective counts by its ratio to the best value that any combination would give; the "
        "smallest mean of the two ratios wins. The paper says that it chooses what minimises both.",
    )

    def setup(self, setting: Setting) -> str:
        return (
            f"{shown(setting)}; nine static combinations, and the synthesizer with {BOTH}. Jobs "
            f"{window(setting)} are measured."
        )

    def cases(self, setting: Setting) -> list[Case]:
        workload = WORKLOADS[PLAIN]
        return [*static_cases(setting, workload), *auto_cases(setting, workload, options=BOTH)]

    def finding(self, done: Sequence[Done]) -> Finding:
        jct, wait = spreads(done, jct_h), spreads(done, responsiveness_min)
        rows = tuple((line, jct[line][0].text(), wait[line][0].text(1)) for line in (*STATIC, AUTO))
        found = {
            name: ({line: points[0].mean for line, points in each.items()})
            for name, each in (("average JCT", jct), ("responsiveness", wait))
        }
        at_best = {name: values[best(values)] for name, values in found.items()}
        verdict = judge(
            found["average JCT"][AUTO] / at_best["average JCT"] - 1,
            found["responsiveness"][AUTO],
            at_best["responsiveness"],
        )
        notes = tuple(f"Best static combination by {name}: {best(values)}." for name, values in found.items())
        charts = (bars(jct, "average JCT (h)", ("",)), bars(wait, "average responsiveness (min)", ("",)))
        heads = ("policies", "average JCT, h", "responsiveness, min")
        return Finding(Table(heads, rows), charts, verdict, notes)


def judge(jct_off: float, wait_min: float, best_wait_min: float) -> Verdict:
    """The rule: the JCT above the best, as a share; responsiveness here and at best, in minutes."""
    near_jct = jct_off <= NEAR
    near_wait = wait_min <= max((1 + NEAR) * best_wait_min, best_wait_min + MINUTE)
    facts = (
        f"its average JCT is {100 * jct_off:+.1f} % off the best static combination, its responsiveness "
        f"{wait_min:.1f} minutes where the best has {best_wait_min:.1f}"
    )
    if near_jct and near_wait:
        return Verdict("holds", facts)
    return Verdict("holds in part" if near_jct or near_wait else "does not hold", facts)


PAGE = Figure20()
