from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.reproduce.answer import Finding, Verdict
from blox.reproduce.curves import Curves, means, responsiveness_min, spreads, table
from blox.reproduce.elastic_loads import (
    FIFO,
    OPTIMUS,
    ROUND_MIN,
    TIRESIAS,
    chart,
    mean,
)
from blox.reproduce.fig6 import DIFFERENCES, HIGH, LINES, LOW, philly_cases, setup
from blox.reproduce.original_loads import OriginalSetup
from blox.reproduce.page import Case, Done, Page, Setting


@dataclass(frozen=True)
class Figure7(Page):
    """FIFO, Tiresias and Optimus against load: responsiveness."""

    title = "FIFO, Tiresias and Optimus by load: responsiveness"
    claim = (
        "At low load the three are equally responsive; above 7 jobs/hour FIFO is the least responsive, and "
        "Tiresias more responsive than Optimus."
    )
    differences = DIFFERENCES
    probes = (OriginalSetup(lambda found: judge(found), responsiveness_min, "average responsiveness", "min"),)
    rule = (
        "Holds if on average the three are within one round (5 minutes) of each other below 4 jobs/hour, "
        "and above 7 FIFO is at least a round worse than both others and Tiresias no worse than Optimus; "
        "in part if only one half of this is so; otherwise it does not hold."
    )

    def setup(self, setting: Setting) -> str:
        return setup(setting)

    def cases(self, setting: Setting) -> list[Case]:
        return philly_cases(setting)

    def finding(self, done: Sequence[Done]) -> Finding:
        found = spreads(done, responsiveness_min)
        return Finding(
            table(found, "jobs/h", "min"),
            (chart(found, "average responsiveness (min)"),),
            judge(means(found)),
        )


def judge(found: Curves) -> Verdict:
    """The rule, from average responsiveness in minutes by line and load."""
    loads = list(found[FIFO])
    low, high = [x for x in loads if x < LOW], [x for x in loads if x > HIGH]
    at_low, at_high = ({line: mean(found[line], part) for line in LINES} for part in (low, high))
    spread = max(at_low.values()) - min(at_low.values())
    late = at_high[FIFO] - max(at_high[TIRESIAS], at_high[OPTIMUS])
    facts = (
        f"below {LOW:g} jobs/hour they are {spread:.1f} minutes apart; above {HIGH:g} FIFO takes "
        f"{at_high[FIFO]:.1f} minutes, Tiresias {at_high[TIRESIAS]:.1f}, Optimus {at_high[OPTIMUS]:.1f}"
    )
    kept = (spread <= ROUND_MIN) + (late >= ROUND_MIN and at_high[TIRESIAS] <= at_high[OPTIMUS])
    return Verdict("holds" if kept == 2 else "holds in part" if kept else "does not hold", facts)


PAGE = Figure7()
