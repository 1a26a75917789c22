from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.reproduce.answer import Finding, Verdict
from blox.reproduce.curves import Curves, means, spreads, table
from blox.reproduce.elastic_loads import FIFO, LAS, NEAR, POLLUX, cases, chart, mean
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.pollux_loads import LIKE, LINES, Crowd, NarrowJobs, Widths, jobs_of

MEDIUM, HIGH = 15.0, 20.0  # jobs/hour: up to where Pollux leads in the paper, and from where it is like FIFO
DIFFERENCES = (
    "Jobs are drawn from our six applications in the shares and with the requests (6 to 48 GPUs) of the "
    "Pollux artifact's workloads, with Poisson arrivals; the paper replays one of these at other rates.",
    "They take under an hour at the size they ask for, the paper's up to ten.",
    "Pollux searches by another method than a genetic algorithm; a start costs 30 s.",
    "FIFO is strict, as the public Blox simulator's is: a job that does not fit holds up those behind it.",
)


@dataclass(frozen=True)
class Figure8(Page):
    """Pollux, FIFO and LAS against load: average JCT."""

    title = "Pollux, FIFO and LAS by load: average JCT"
    claim = (
        "Under 15 jobs/hour Pollux has a lower average JCT than FIFO and LAS; above 20 jobs/hour it becomes "
        "similar to FIFO."
    )
    differences = DIFFERENCES
    probes = (
        Widths(),
        NarrowJobs(lambda found: judge(found), lambda setting: loads(setting)),
        Crowd(),
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
    at, seeds = loads(setting), len(_seeds(setting))
    return (
        f"{jobs_of(setting)} elastic jobs of our applications, in the shares of the Pollux workloads, "
        f"{at[0]:g} to {at[-1]:g} an hour, on 16 nodes of 4 GPUs, consolidated; FIFO and LAS run them "
        f"at the size they ask for. All jobs are measured, as in the paper's trace of 160; {seeds} "
        f"seed{'s' if seeds > 1 else ''}; 30 s per start."
    )


def pollux_cases(setting: Setting) -> list[Case]:
    """The runs of figures 8 and 9."""
    workload = f"elastic:load={{load}},jobs={jobs_of(setting)}"
    return cases(LINES, workload, loads(setting), _seeds(setting), cluster="16x4")


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


def loads(setting: Setting) -> list[float]:
    """Jobs per hour."""
    return [1.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0] if setting.full else [5.0, 20.0, 40.0]


def _seeds(setting: Setting) -> range:
    return setting.seeds(quick=2, full=3)


PAGE = Figure8()
