"""Admission thresholds with LAS: what figures 12 and 13 run, and how their claim is judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from blox.experiment.settings import Experiment
from blox.report.charts import Bar, Bars
from blox.reproduce.answer import Cause, Finding, Table, Verdict
from blox.reproduce.curves import Spread, average_jct_h, responsiveness_min, spreads
from blox.reproduce.page import Case, Done, Page, Setting
from blox.results.result import Result
from blox.results.statistics import Interval, mean_interval

ALL = "accept all"
FACTORS = {ALL: "accept-all", **{f"accept {f}x": f"threshold:factor={f}" for f in ("1.5", "1.2", "1.0")}}
SHOWN = "accept 1.2x"
LIMITED = tuple(name for name in FACTORS if name != ALL)
PLAIN = 0.02  # differences of less are no difference
LOAD = 8.0  # jobs/hour
FIRST, LAST = 3000, 4000  # the paper's window
# A job that was left out for so long goes first: as in the public code, without which long jobs never end.
LAS = "promote:policy=las,after_s=3600000"


def cases(
    spike: int, round_s: float, seeds: range, jobs: int | None = None, names: Sequence[str] = tuple(FACTORS)
) -> list[Case]:
    """LAS behind each threshold, by seeds; `jobs`: how many come in all, None: they go on coming."""
    workload = f"gavel:load={LOAD:g}"
    workload += f",spike_jobs={spike}" if spike else ""
    workload += f",jobs={jobs}" if jobs else ""
    base = Experiment(
        workload=workload, cluster="32x4", scheduler=LAS, performance="duration", round_s=round_s,
        window=f"{FIRST}-{LAST}",
    )  # fmt: skip
    return [
        Case(name, float(jobs or math.inf), replace(base, admission=FACTORS[name], seed=seed))
        for name in names
        for seed in seeds
    ]


def asked(setting: Setting) -> tuple[float, range]:
    """Seconds of a round, and seeds. Runs go over thousands of hours: rounds are longer than the paper's."""
    return 900.0 if setting.full else 1800.0, setting.seeds(quick=3, full=6)


def gains(found: Mapping[str, float]) -> dict[str, float]:
    """By threshold, by how much its average JCT is below that of accepting all: 0.15 is 15 %."""
    return {name: 1 - found[name] / found[ALL] for name in LIMITED if name in found}


def gains_by_seed(done: Sequence[Done]) -> dict[int, dict[str, float]]:
    """The same for each seed alone."""
    by_seed: dict[int, dict[str, float]] = {}
    for each in done:
        by_seed.setdefault(each.seed, {})[each.case.line] = average_jct_h(each.result)
    return {seed: gains(found) for seed, found in by_seed.items()}


def gain_intervals(done: Sequence[Done]) -> dict[str, Interval]:
    """By threshold, the 95 % interval of its gain over seeds; nothing where there is one seed."""
    each_gains = list(gains_by_seed(done).values())
    found = {name: mean_interval(np.array([by[name] for by in each_gains])) for name in each_gains[0]}
    return {name: interval for name, interval in found.items() if interval is not None}


def judge(found: Mapping[str, float], intervals: Mapping[str, Interval] | None = None) -> Verdict:
    """The rule, from average JCTs by line and, where there are several seeds, the intervals of gains."""
    by = gains(found)
    sure = {name for name in by if not intervals or intervals[name].low > 0}
    better = [name for name in by if by[name] >= PLAIN]
    grows = all(by[low] >= by[high] - PLAIN for high, low in pairwise(LIMITED))
    facts = ", ".join(f"{name} {100 * gain:+.1f} %" for name, gain in by.items())
    if len(better) == len(sure) == len(by) and grows:
        return Verdict("holds", f"against accepting all the average JCT is lower by {facts}")
    unsure = f"; not told from chance: {', '.join(name for name in by if name not in sure)}"
    facts += unsure if len(sure) < len(by) else ""
    if better:
        return Verdict("holds in part", f"against accepting all the average JCT is lower by {facts}")
    return Verdict("does not hold", f"no threshold lowers the average JCT: {facts}")


class Thresholds(Page):
    """LAS behind admission thresholds; a figure says how many jobs come besides, and the paper's gains."""

    spike: ClassVar[int]
    paper: ClassVar[dict[str, float]]  # line -> by how much the paper's average JCT is lower: 0.15 is 15 %

    rule = (
        "Holds if LAS behind every threshold has an average JCT at least 2 % below that of accepting all, "
        "the 95 % interval of that gain over seeds lies above 0, and the lower the threshold, the lower the "
        "JCT (2 % are no difference); in part if some threshold's is 2 % below; otherwise it does not hold."
    )
    differences = (
        "The paper's public code makes every simulated job a 1-GPU job with durations from Gavel's "
        "generator, 16.8 h on average, of which 128 GPUs can do 7.6 an hour: so do we (the workload gavel).",
        "Rounds of 15 minutes (30 with --quick) instead of 5: the last of the measured jobs ends after "
        "thousands of hours.",
        "Jobs take the first free GPUs: a job of one GPU runs at the speed of its duration on any of them.",
        "Several seeds; the paper has one run of each.",
    )

    def setup(self, setting: Setting) -> str:
        round_s, seeds = asked(setting)
        spike = f", with {self.spike} more in one hour of each day" if self.spike else ""
        return (
            f"Gavel's jobs of one GPU, {LOAD:g} an hour{spike}, on 32 nodes of 4 GPUs, until the measured "
            f"ones ({FIRST}-{LAST}) are done; LAS, by which a job left out for 3,600,000 s goes first, as in "
            f"the public code; rounds of {round_s:g} s, {len(seeds)} seeds."
        )

    def cases(self, setting: Setting) -> list[Case]:
        return cases(self.spike, *asked(setting))

    def finding(self, done: Sequence[Done]) -> Finding:
        jct, until_start = _by_line(done, average_jct_h), _by_line(done, responsiveness_min)
        mean = {line: value.mean for line, value in jct.items()}
        by, intervals = gains(mean), gain_intervals(done)
        rows = []
        for line, value in jct.items():
            waits_h = until_start[line].mean / 60
            gain = f"{100 * by[line]:+.1f} %" if line in by else ""
            sure = _percent(intervals[line]) if line in intervals else ""
            paper = f"{100 * self.paper[line]:g} %" if line in self.paper else ""
            waits = (f"{waits_h:.1f}", f"{100 * waits_h / mean[line]:.0f} %")
            rows.append((line, value.text(1), gain, sure, paper, *waits))
        heads = (
            *("admission", "average JCT, h", "lower by", "95 % interval", "the paper"),
            *("responsiveness, h", "of the JCT"),
        )
        return Finding(Table(heads, tuple(rows)), (_bars(jct),), judge(mean, intervals))


@dataclass(frozen=True)
class Arrivals:
    """The same with arrivals that end: right behind the measured jobs, or some time later."""

    spike: int

    def cases(self, setting: Setting) -> list[Case]:
        ends = (LAST + 1, 8000, 12_000, None) if setting.full else (LAST + 1, 8000, None)
        round_s, seeds = asked(setting)[0], setting.seeds(quick=1, full=3)
        lines = (ALL, SHOWN)
        return [case for jobs in ends for case in cases(self.spike, round_s, seeds, jobs, lines)]

    def cause(self, done: Sequence[Done]) -> Cause:
        found = spreads(done, average_jct_h)
        off = {jobs: found[SHOWN][jobs].mean / found[ALL][jobs].mean - 1 for jobs in found[ALL]}
        rows = tuple(
            (_after(jobs), found[ALL][jobs].text(1), found[SHOWN][jobs].text(1), f"{100 * each:+.1f} %")
            for jobs, each in off.items()
        )
        told = ", ".join(f"{100 * each:+.0f} % if {_after(jobs)} come after" for jobs, each in off.items())
        seeds = ", ".join(str(seed) for seed in sorted({each.seed for each in done}))
        return Cause(
            "When does a threshold help?",
            f"If jobs go on coming faster than they can be done. LAS lets each newcomer go before long jobs, "
            "which wait until no more come or the limit of 3,600,000 s is over; a threshold keeps newcomers "
            f"out until the jobs before them are done. Behind {SHOWN.removeprefix('accept ')} the average "
            f"JCT of the same measured jobs changes by {told} (seeds {seeds}).",
            Table(("jobs after the measured ones", f"{ALL}, h", f"{SHOWN}, h", "changes by"), rows),
        )


@dataclass(frozen=True)
class Seeds:
    """The gains of each seed alone, as the paper's are of one run."""

    spike: int
    paper: Mapping[str, float]

    def cases(self, setting: Setting) -> list[Case]:
        return cases(self.spike, *asked(setting))

    def cause(self, done: Sequence[Done]) -> Cause:
        by_seed = gains_by_seed(done)
        ranges = {name: Spread.of([each[name] for each in by_seed.values()]) for name in LIMITED}
        rows = [
            (f"seed {seed}", *(f"{100 * each[name]:+.1f} %" for name in LIMITED))
            for seed, each in by_seed.items()
        ]
        paper = (f"{100 * self.paper[name]:+.1f} %" if name in self.paper else "" for name in LIMITED)
        rows.append(("the paper", *paper))
        told = "; ".join(
            f"{name} {100 * ranges[name].low:+.0f} to {100 * ranges[name].high:+.0f} %, the paper's "
            f"{100 * gain:g} % is {_beside(ranges[name], gain)}"
            for name, gain in self.paper.items()
        )
        return Cause(
            "Are the paper's sizes those of another seed?",
            f"The average JCT is lower by, from seed to seed: {told}.",
            Table(("", *LIMITED), tuple(rows)),
        )


def _beside(values: Spread, gain: float) -> str:
    """Where a gain lies, seen from those of the seeds."""
    return "below these" if gain < values.low else "above these" if gain > values.high else "among these"


def _after(jobs: float) -> str:
    return (
        "jobs without end" if jobs == math.inf else "no jobs" if jobs == LAST + 1 else f"{jobs - LAST:,.0f}"
    )


def _by_line(done: Sequence[Done], measure: Callable[[Result], float]) -> dict[str, Spread]:
    return {line: points[math.inf] for line, points in spreads(done, measure).items()}


def _percent(interval: Interval) -> str:
    return f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f} %"


def _bars(jct: Mapping[str, Spread]) -> Bars:
    values = tuple(jct.values())
    bar = Bar(
        "average JCT",
        tuple(value.mean for value in values),
        low=tuple(value.low for value in values),
        high=tuple(value.high for value in values),
    )
    return Bars(tuple(jct), "average JCT (h)", (bar,))
