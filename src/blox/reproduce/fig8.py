from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.reproduce.answer import Finding, Verdict
from blox.reproduce.curves import Curves, means, spreads, table
from blox.reproduce.elastic_loads import FIFO, LAS, NEAR, POLLUX, cases, chart, mean
from blox.reproduce.page import Case, Done, Page, Setting

LINES = (POLLUX, FIFO, LAS)
MEDIUM, HIGH = 15.0, 20.0  # jobs/hour: up to where Pollux leads in the paper, and from where it is like FIFO
LIKE = 0.25  # of the JCT: within this it is like FIFO


@dataclass(frozen=True)
class Figure8(Page):
    """Pollux, FIFO and LAS against load: average JCT."""

    title = "Pollux, FIFO and LAS by load: average JCT"
    claim = (
        "Under 15 jobs/hour Pollux has a lower average JCT than FIFO and LAS; above 20 jobs/hour it becomes "
        "similar to FIFO."
    )
    rule = (
        "Holds if Pollux is at least 5 % better than both others on average under 15 jobs/hour, and above 20 "
        "within 25 % of FIFO; in part if one of the two is so; otherwise it does not hold."
    )

    def setup(self, setting: Setting) -> str:
        return setup(setting)

    def cases(self, setting: Setting) -> list[Case]:
        return pollux_cases(setting)

    def finding(self, done: Sequence[Done]) -> Finding:
        found = spreads(done)
        return Finding(table(found, "jobs/h", "h"), (chart(found, "average JCT (h)"),), judge(means(found)))


def setup(setting: Setting) -> str:
    """What figures 8 and 9 run."""
    loads, seeds = _loads(setting), len(_seeds(setting))
    return (
        f"{_jobs(setting)} elastic jobs of our applications, in the shares of the Pollux workloads, "
        f"{loads[0]:g} to {loads[-1]:g} an hour, on 16 nodes of 4 GPUs, consolidated; FIFO and LAS run them "
        f"at the size they ask for. All jobs are measured, as in the paper's trace of 160; {seeds} "
        f"seed{'s' if seeds > 1 else ''}; 30 s per start."
    )


def pollux_cases(setting: Setting) -> list[Case]:
    """The runs of figures 8 and 9."""
    workload = f"elastic:load={{load}},jobs={_jobs(setting)}"
    return cases(LINES, workload, _loads(setting), _seeds(setting), cluster="16x4")


def judge(found: Curves) -> Verdict:
    """The rule, from average JCTs by line and load."""
    loads = list(found[FIFO])
    low, high = [x for x in loads if x < MEDIUM], [x for x in loads if x > HIGH]
    at_low, at_high = ({line: mean(found[line], part) for line in LINES} for part in (low, high))
    ahead = 1 - at_low[POLLUX] / min(at_low[FIFO], at_low[LAS])
    apart = at_high[POLLUX] / at_high[FIFO] - 1
    facts = (
        f"under {MEDIUM:g} jobs/hour Pollux is {100 * ahead:.1f} % better than the better of the others; "
        f"above {HIGH:g} it is {100 * apart:+.1f} % off FIFO and "
        f"{100 * (at_high[POLLUX] / at_high[LAS] - 1):+.1f} % off LAS"
    )
    kept = (ahead >= NEAR) + (abs(apart) <= LIKE)
    return Verdict("holds" if kept == 2 else "holds in part" if kept else "does not hold", facts)


def _jobs(setting: Setting) -> int:
    return 160 if setting.full else 60


def _loads(setting: Setting) -> list[float]:
    return [1.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0] if setting.full else [5.0, 20.0, 40.0]


def _seeds(setting: Setting) -> range:
    return setting.seeds(quick=1, full=3)


PAGE = Figure8()
