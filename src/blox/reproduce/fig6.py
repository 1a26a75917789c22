from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.reproduce.answer import Finding, Verdict
from blox.reproduce.curves import Curves, means, spreads, table
from blox.reproduce.elastic_loads import FIFO, NEAR, OPTIMUS, TIRESIAS, WINDOW, cases, chart, mean
from blox.reproduce.original_loads import Crowding, OriginalSetup
from blox.reproduce.page import Case, Done, Page, Setting

LINES = (FIFO, TIRESIAS, OPTIMUS)
LOW, HIGH = 4.0, 7.0  # jobs/hour: the paper's "low" is below, its "higher" above
WORKLOAD = "elastic:of=philly:load={load}"
DIFFERENCES = (
    "Jobs have the sizes (93 % one GPU, up to 128) and durations (3.7 h on average) of Philly's published "
    "trace; the public simulator replaces both by one GPU each and Gavel's synthetic durations (16.8 h).",
    "128 GPUs can do 10.7 of our jobs an hour and 7.6 of theirs, so 9 jobs an hour crowd their cluster and "
    "not ours.",
    "Optimus resizes jobs by marginal gain; theirs is SRTF with all progress multiplied by a constant of the "
    "load (5 at 1 job/hour, 1 from 6 on).",
    "Tiresias has two queues, each in order of arrival; theirs is one queue by attained service.",
    "A start costs 30 s; theirs costs nothing.",
    "Jobs are elastic: each scales like one of our applications.",
)


@dataclass(frozen=True)
class Figure6(Page):
    """FIFO, Tiresias and Optimus against load: average JCT."""

    title = "FIFO, Tiresias and Optimus by load: average JCT"
    claim = (
        "Below 4 jobs/hour Optimus has a lower average JCT than FIFO and Tiresias; above 7 jobs/hour "
        "Tiresias has a higher one than FIFO and Optimus."
    )
    differences = DIFFERENCES
    probes = (OriginalSetup(lambda found: judge(found)), Crowding())
    rule = (
        "Holds if Optimus is at least 5 % better than both others on average below 4 jobs/hour, and "
        "Tiresias at least 5 % worse than both above 7; in part if one of the two is so; otherwise it does "
        "not hold."
    )

    def setup(self, setting: Setting) -> str:
        return setup(setting)

    def cases(self, setting: Setting) -> list[Case]:
        return philly_cases(setting)

    def finding(self, done: Sequence[Done]) -> Finding:
        found = spreads(done)
        return Finding(table(found, "jobs/h", "h"), (chart(found, "average JCT (h)"),), judge(means(found)))


def setup(setting: Setting) -> str:
    """What figures 6 and 7 run."""
    loads, seeds = _loads(setting), len(_seeds(setting))
    return (
        f"Jobs as in the Philly trace, {loads[0]:g} to {loads[-1]:g} an hour, made elastic (each scales "
        "like one of our applications), on 32 nodes of 4 GPUs, consolidated; FIFO and Tiresias run them at "
        f"the size they ask for, Optimus resizes them. Jobs {_window(setting)} are measured, "
        f"{seeds} seed{'s' if seeds > 1 else ''}."
    )


def philly_cases(setting: Setting) -> list[Case]:
    """The runs of figures 6 and 7."""
    return cases(LINES, WORKLOAD, _loads(setting), _seeds(setting), window=_window(setting))


def judge(found: Curves) -> Verdict:
    """The rule, from average JCTs by line and load."""
    loads = list(found[FIFO])
    low, high = [x for x in loads if x < LOW], [x for x in loads if x > HIGH]
    at_low, at_high = ({line: mean(found[line], part) for line in LINES} for part in (low, high))
    ahead = 1 - at_low[OPTIMUS] / min(at_low[FIFO], at_low[TIRESIAS])
    behind = at_high[TIRESIAS] / max(at_high[FIFO], at_high[OPTIMUS]) - 1
    facts = (
        f"below {LOW:g} jobs/hour Optimus is {100 * ahead:.1f} % better than the better of the others; above "
        f"{HIGH:g} Tiresias is {100 * behind:+.1f} % off the worse of the others"
    )
    kept = (ahead >= NEAR) + (behind >= NEAR)
    return Verdict("holds" if kept == 2 else "holds in part" if kept else "does not hold", facts)


def _loads(setting: Setting) -> list[float]:
    return [float(n) for n in (range(1, 10) if setting.full else (2, 6, 9))]


def _window(setting: Setting) -> str:
    return WINDOW if setting.full else "1000-2000"


def _seeds(setting: Setting) -> range:
    return setting.seeds(quick=2, full=2)


PAGE = Figure6()
