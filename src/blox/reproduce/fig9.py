from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.reproduce.answer import Finding, Verdict
from blox.reproduce.curves import Curves, means, responsiveness_min, spreads, table
from blox.reproduce.elastic_loads import (
    FIFO,
    LAS,
    POLLUX,
    ROUND_MIN,
    chart,
    mean,
)
from blox.reproduce.fig8 import DIFFERENCES, HIGH, MEDIUM, loads, pollux_cases, setup
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.pollux_loads import LINES, Crowd, NarrowJobs, Widths


@dataclass(frozen=True)
class Figure9(Page):
    """Pollux, FIFO and LAS against load: responsiveness."""

    title = "Pollux, FIFO and LAS by load: responsiveness"
    claim = (
        "Under 15 jobs/hour the three are equally responsive; above 20 jobs/hour Pollux becomes as slow to "
        "respond as FIFO, and LAS stays responsive."
    )
    differences = DIFFERENCES
    probes = (
        Widths(responsiveness_min, "average responsiveness", "min"),
        NarrowJobs(lambda found: judge(found), lambda setting: loads(setting), responsiveness_min, "min"),
        Crowd(responsiveness_min, "average responsiveness", "min"),
    )
    rule = (
        "Holds if on average the three are within one round (5 minutes) of each other under 15 jobs/hour, "
        "and above 20 LAS is at least a round better than both others; in part if one of the two is so, or "
        "LAS is that much better than FIFO only; otherwise it does not hold."
    )

    def setup(self, setting: Setting) -> str:
        return setup(setting)

    def cases(self, setting: Setting) -> list[Case]:
        return pollux_cases(setting)

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
    low, high = [x for x in loads if x < MEDIUM], [x for x in loads if x > HIGH]
    at_low, at_high = ({line: mean(found[line], part) for line in LINES} for part in (low, high))
    spread = max(at_low.values()) - min(at_low.values())
    near = spread <= ROUND_MIN
    over_fifo = at_high[FIFO] - at_high[LAS] >= ROUND_MIN
    over_pollux = at_high[POLLUX] - at_high[LAS] >= ROUND_MIN
    facts = (
        f"under {MEDIUM:g} jobs/hour they are {spread:.1f} minutes apart; above {HIGH:g} Pollux takes "
        f"{at_high[POLLUX]:.1f} minutes, FIFO {at_high[FIFO]:.1f}, LAS {at_high[LAS]:.1f}"
    )
    if near and over_fifo and over_pollux:
        return Verdict("holds", facts)
    return Verdict("holds in part" if near or over_fifo else "does not hold", facts)


PAGE = Figure9()
