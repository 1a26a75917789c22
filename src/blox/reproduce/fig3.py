from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from blox.experiment.settings import Experiment
from blox.report.charts import Chart, Line
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.curves import average_jct_s, drawn, means, spreads
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.pollux_intervals import LOAD, LONG, SHORT, Lengths, Parts, base, jobs_of

# Average JCT (s) by scheduling interval (s), shipped with the Pollux artifact (OSDI'21; petuum/adaptdl,
# branch osdi21-artifact): of workload 6, which is the paper's trace, and the mean over its eight workloads.
WORKLOAD_6 = {30.0: 2463.9, 60.0: 2446.1, 120.0: 2510.9, 240.0: 2693.2, 480.0: 3126.9}
ALL_EIGHT = {30.0: 2729.0, 60.0: 2751.0, 120.0: 2806.0, 240.0: 2969.0, 480.0: 3354.0}
CLOSE = 0.05
OURS, THEIRS = "Pollux in blox", "the artifact"


@dataclass(frozen=True)
class Figure3(Page):
    """Pollux against the scheduling interval."""

    title = "Pollux by scheduling interval: blox against the Pollux artifact"
    claim = (
        "Pollux in Blox gives the average JCTs of Pollux's own simulator at intervals of 30 s to 8 minutes."
    )
    differences = (
        "Without the artifact's workload 6 (--trace pollux:workload-6.csv) jobs are our own: the same "
        "applications, shares and requests, with Poisson arrivals and speeds fitted to the artifact's "
        "measurements; then only the cost of longer intervals can be compared.",
        "The artifact's numbers are those shipped with it, not run again.",
        "Pollux searches by another method than the artifact's genetic algorithm.",
    )
    probes = (Parts(), Lengths((ALL_EIGHT[SHORT], ALL_EIGHT[LONG])))
    rule = (
        "What is compared with the artifact at every interval is the average JCT where its workload 6 is "
        "given as the trace, otherwise the JCT relative to that at 60 s. Holds if it is within 5 % at "
        "every interval; in part if it is at most of them; otherwise it does not hold."
    )

    def setup(self, setting: Setting) -> str:
        seeds = len(self._seeds(setting))
        if _traced(setting):
            jobs = f"The jobs of {setting.trace} by the preset pollux, with our search"
        else:
            jobs = (
                f"{jobs_of(setting)} elastic jobs of our applications, {LOAD} an hour, by the policy pollux"
            )
        return f"{jobs}, on 16 nodes of 4 GPUs; 30 s per restart; {seeds} seed{'s' if seeds > 1 else ''}."

    def cases(self, setting: Setting) -> list[Case]:
        found = []
        for interval in self._intervals(setting):
            if _traced(setting):
                run = Experiment(workload=setting.trace, compat=f"pollux:policy=pollux,interval={interval:g}")
            else:
                run = replace(base(setting), round_s=interval)
            found += [Case(OURS, interval, replace(run, seed=seed)) for seed in self._seeds(setting)]
        return found

    def finding(self, done: Sequence[Done]) -> Finding:
        spread = spreads(done, average_jct_s)
        ours = means(spread)[OURS]
        traced = bool(done[0].case.experiment.compat)
        theirs = {x: (WORKLOAD_6 if traced else ALL_EIGHT)[x] for x in ours}
        off = deviations(ours, theirs, absolute=traced)
        table = Table(
            ("interval, s", f"{OURS}, s", f"{THEIRS}, s", "apart by"),
            tuple(
                (f"{x:g}", spread[OURS][x].text(0), f"{theirs[x]:,.0f}", f"{100 * off[x]:+.1f} %")
                for x in ours
            ),
        )
        chart = Chart(
            "scheduling interval (s)",
            "average JCT (s)",
            (*drawn(spread), Line(THEIRS, tuple(theirs), tuple(theirs.values()))),
        )
        notes = () if traced else ("The jobs differ, so only the cost of longer intervals is compared.",)
        return Finding(table, (chart,), judge(off), notes)

    def _intervals(self, setting: Setting) -> list[float]:
        return list(WORKLOAD_6) if setting.full else [60.0, 240.0, 480.0]

    def _seeds(self, setting: Setting) -> range:
        return setting.seeds(quick=1, full=3)


def _traced(setting: Setting) -> bool:
    """Whether the trace is one that this figure can replay; others are for other figures."""
    return setting.trace.startswith("pollux:")


def deviations(
    ours: Mapping[float, float], theirs: Mapping[float, float], *, absolute: bool
) -> dict[float, float]:
    """How far ours is off at every interval: 0.05 is 5 % more; relative to 60 s unless `absolute`."""
    scale = 1.0 if absolute else theirs[SHORT] / ours[SHORT]
    return {x: scale * ours[x] / theirs[x] - 1 for x in ours}


def judge(off: Mapping[float, float]) -> Verdict:
    """The rule, from deviations by interval."""
    close = [x for x in off if abs(off[x]) <= CLOSE]
    worst = max(off, key=lambda x: abs(off[x]))
    facts = (
        f"{len(close)} of {len(off)} intervals are within {100 * CLOSE:g} %, and the largest deviation is "
        f"{100 * off[worst]:+.1f} % at {worst:g} s"
    )
    if len(close) == len(off):
        return Verdict("holds", facts)
    return Verdict("holds in part" if 2 * len(close) > len(off) else "does not hold", facts)


PAGE = Figure3()
