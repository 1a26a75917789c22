"""Admission thresholds with LAS: what figures 12 and 13 run, and how their claim is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from blox.experiment.settings import Experiment
from blox.report.charts import Bar, Bars
from blox.reproduce.answer import Cause, Finding, Table, Verdict
from blox.reproduce.curves import Spread, average_jct_h, responsiveness_min, spreads
from blox.reproduce.page import Case, Done, Page, Setting
from blox.results.statistics import Interval, mean_interval

ALL = "accept all"
FACTORS = {ALL: "accept-all", **{f"accept {f}x": f"threshold:factor={f}" for f in ("1.5", "1.2", "1.0")}}
SHOWN = "accept 1.2x"
LIMITED = tuple(name for name in FACTORS if name != ALL)
PLAIN = 0.02  # differences of less are no difference
CAPACITY = 7.6  # jobs/hour: what 128 GPUs can do of these jobs
# A job that was left out for so long goes first: as in the public code, without which long jobs never end.
LAS = "promote:policy=las,after_s=3600000"


def scaled(setting: Setting) -> tuple[str, float, str]:
    """The cluster, its part of the paper's, and the window: a quarter of everything where that is quick."""
    return ("32x4", 1.0, "3000-4000") if setting.full else ("8x4", 0.25, "750-1000")


def cases(
    setting: Setting, spike: int, load: float = 8.0, names: Sequence[str] = tuple(FACTORS)
) -> list[Case]:
    """LAS behind each threshold, by seeds; `load` and `spike` are those of the paper's cluster."""
    cluster, part, window = scaled(setting)
    workload = f"gavel:load={load * part:g}"
    if spike:
        workload += f",spike_jobs={round(spike * part)}"
    base = Experiment(
        workload=workload, cluster=cluster, scheduler=LAS, placement="consolidated", performance="duration",
        window=window,
    )  # fmt: skip
    return [
        Case(name, load, replace(base, admission=FACTORS[name], seed=seed))
        for name in names
        for seed in setting.seeds(quick=4, full=6)
    ]


def gains(found: Mapping[str, float]) -> dict[str, float]:
    """By threshold, by how much its average JCT is below that of accepting all: 0.15 is 15 %."""
    return {name: 1 - found[name] / found[ALL] for name in LIMITED if name in found}


def gain_intervals(done: Sequence[Done]) -> dict[str, Interval]:
    """By threshold, the 95 % interval of its gain over seeds; nothing where there is one seed."""
    by_seed: dict[int, dict[str, float]] = {}
    for each in done:
        by_seed.setdefault(each.seed, {})[each.case.line] = average_jct_h(each.result)
    each_gains = [gains(found) for found in by_seed.values()]
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
    paper: ClassVar[dict[str, str]]  # line -> what the paper says, in words

    rule = (
        "Holds if LAS behind every threshold has an average JCT at least 2 % below that of accepting all, "
        "the 95 % interval of that gain over seeds lies above 0, and the lower the threshold, the lower the "
        "JCT (2 % are no difference); in part if some threshold's is 2 % below; otherwise it does not hold."
    )
    differences = (
        "The paper's public code makes every simulated job a 1-GPU job with durations from Gavel's "
        "generator, 16.8 h on average, of which 128 GPUs can do 7.6 an hour: so do we (the workload gavel).",
        "Quick runs are a quarter of the paper's cluster, of its load and of its window.",
    )

    def setup(self, setting: Setting) -> str:
        cluster, part, window = scaled(setting)
        spike = f", with {round(self.spike * part)} more in one hour of each day" if self.spike else ""
        return (
            f"Gavel's jobs of one GPU, {8 * part:g} an hour{spike}, on {cluster} GPUs; LAS, by which a job "
            f"left out for 3,600,000 s goes first, as in the public code; window {window}."
        )

    def cases(self, setting: Setting) -> list[Case]:
        return cases(setting, self.spike)

    def finding(self, done: Sequence[Done]) -> Finding:
        jct = {line: points[8.0] for line, points in spreads(done, average_jct_h).items()}
        wait = {line: points[8.0].mean / 60 for line, points in spreads(done, responsiveness_min).items()}
        mean = {line: value.mean for line, value in jct.items()}
        by, intervals = gains(mean), gain_intervals(done)
        rows = tuple(
            (
                line,
                jct[line].text(1),
                f"{100 * by[line]:+.1f} %" if line in by else "",
                _percent(intervals[line]) if line in intervals else "",
                self.paper.get(line, ""),
                f"{wait[line]:.1f}",
                f"{100 * wait[line] / mean[line]:.0f} %",
            )
            for line in jct
        )
        heads = (
            *("admission", "average JCT, h", "lower by", "95 % interval", "the paper"),
            *("responsiveness, h", "of the JCT"),
        )
        return Finding(Table(heads, rows), (_bars(jct),), judge(mean, intervals))


class ByLoad:
    """Whether a threshold helps, by load and by how many jobs have piled up by then."""

    def __init__(self, spike: int) -> None:
        self.spike = spike

    def cases(self, setting: Setting) -> list[Case]:
        names, loads = (ALL, SHOWN), (7.2, 8.0, 8.8) if setting.full else (8.0,)
        return [case for load in loads for case in cases(setting, self.spike, load, names)]

    def cause(self, done: Sequence[Done]) -> Cause:
        all_jobs = {(each.case.x, each.seed): each.result for each in done if each.case.line == ALL}
        limited = {(each.case.x, each.seed): each.result for each in done if each.case.line == SHOWN}
        rows = []
        for (load, seed), result in sorted(all_jobs.items()):
            jct, other = average_jct_h(result), average_jct_h(limited[load, seed])
            waiting = float(result.summary["queue_length"])
            rows.append((waiting, load, seed, jct, other, 1 - other / jct))
        rows.sort()
        helped = [row for row in rows if row[-1] > 0]
        answer = (
            f"Of {len(rows)} runs accepting 1.2x lowers the average JCT in {len(helped)}. Ordered by the "
            f"jobs that wait under LAS without limits, from {rows[0][0]:.0f} to {rows[-1][0]:.0f}, the "
            f"change goes from {-100 * rows[0][-1]:+.0f} % to {-100 * rows[-1][-1]:+.0f} %."
        )
        heads = ("jobs waiting", "jobs/h", "of capacity", "seed", f"{ALL}, h", f"{SHOWN}, h", "lower by")
        table = tuple(
            (
                f"{waiting:.0f}",
                f"{load:g}",
                f"{100 * load / CAPACITY:.0f} %",
                str(seed),
                f"{jct:.1f}",
                f"{other:.1f}",
                f"{100 * gain:+.1f} %",
            )
            for waiting, load, seed, jct, other, gain in rows
        )
        return Cause("When does a threshold help?", answer, Table(heads, table))


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
