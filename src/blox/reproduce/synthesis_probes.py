"""Why the synthesizer does as it does: what it looks at, and whether switching can help at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blox.reproduce.answer import Cause, Table
from blox.reproduce.curves import curves, means, responsiveness_min, spreads
from blox.reproduce.page import Case, Done, Setting
from blox.reproduce.synthesis import (
    AUTO,
    PLAIN,
    STATIC,
    WORKLOADS,
    auto_cases,
    best,
    by_line,
    static_cases,
)
from blox.results.result import Result

STEADY = "hysteresis=0"
AS_IN_PAPER = "belief=oracle;arrivals=none;horizon=never;hysteresis=0"
LOOKS = {
    AUTO: "",
    "without hysteresis": STEADY,
    "as in the paper": AS_IN_PAPER,
    "the same, nothing but true durations": "belief=oracle",
}
DAY_S = 86400.0


@dataclass(frozen=True)
class Looks:
    """Other ways of looking ahead: without hysteresis, as the paper does, with the true durations."""

    objective: str = ""

    def cases(self, setting: Setting) -> list[Case]:
        names = list(LOOKS) if setting.full else list(LOOKS)[:3]
        options = {name: ";".join(filter(None, (LOOKS[name], self.objective))) for name in names}
        workloads = list(WORKLOADS.values())[: 1 if self.objective or not setting.full else 2]
        return [
            case
            for x, workload in enumerate(workloads)
            for name, each in options.items()
            for case in auto_cases(setting, workload, x, each, name)
        ]

    def cause(self, done: Sequence[Done]) -> Cause:
        jct, wait = curves(done), curves(done, responsiveness_min)
        often = curves(done, _changes_a_day)
        rows = tuple(
            (
                f"{line}, {list(WORKLOADS)[int(x)]}",
                f"{value:.2f}",
                f"{wait[line][x]:.1f}",
                f"{often[line][x]:.1f}",
            )
            for line, points in jct.items()
            for x, value in points.items()
        )
        plain = {line: points[0] for line, points in jct.items()}
        paper, own = "as in the paper", "without hysteresis"
        answer = (
            f"On the {PLAIN} workload it changes policies {often[AUTO][0]:.1f} times a day, without "
            f"hysteresis {often[own][0]:.1f} times, with an average JCT of {plain[AUTO]:.2f} and "
            f"{plain[own]:.2f} h. Looking ahead as the paper does (true durations, no job comes, until all "
            f"are done) it changes {often[paper][0]:.1f} times a day, with {plain[paper]:.2f} h: a look at "
            "the jobs that are there says little about those that come."
        )
        heads = ("the synthesizer", "average JCT, h", "responsiveness, min", "changes a day")
        return Cause("Does it matter how it looks ahead?", answer, Table(heads, rows))


@dataclass(frozen=True)
class Changing:
    """A workload whose character changes half-way: plain, then bursts. What could switching give at best?"""

    def cases(self, setting: Setting) -> list[Case]:
        workload = self._workload(setting)
        seeds = setting.seeds(quick=1, full=1)
        autos = [case for case in auto_cases(setting, workload) if case.experiment.seed in seeds]
        return [*static_cases(setting, workload, seeds=seeds), *autos]

    def cause(self, done: Sequence[Done]) -> Cause:
        lines = by_line(done, 0.0)
        change_s = 3600.0 * float(lines[AUTO][0].case.experiment.workload.rpartition("burst_from=")[2][:-1])
        halves = {line: _halves(runs[0], change_s) for line, runs in lines.items()}
        jct = {line: found[0] for line, found in means(spreads(done)).items()}
        static = {line: halves[line] for line in STATIC}
        winners = [best({line: found[part][0] for line, found in static.items()}) for part in (0, 1)]
        count = [next(iter(static.values()))[part][1] for part in (0, 1)]
        bound = sum(static[winners[part]][part][0] * count[part] for part in (0, 1)) / sum(count)
        top = best(jct)
        gain = 1 - jct[AUTO] / jct[top]
        rows = tuple(
            (line, *(f"{halves[line][part][0]:.2f}" for part in (0, 1)), f"{jct[line]:.2f}")
            for line in (*STATIC, AUTO)
        )
        answer = (
            f"The synthesizer is {100 * gain:+.1f} % better than the best static combination ({top}). Much "
            f"more cannot be had by switching: best before the change is {winners[0]}, after it "
            f"{winners[1]}, and a scheduler as good as each in its half would average {bound:.2f} h, "
            f"{100 * (1 - bound / jct[top]):.1f} % better than {top} all along."
        )
        heads = ("policies", "jobs before the change, h", "after it, h", "all, h")
        return Cause(
            "And where the workload changes its character half-way, plain first, then with bursts?",
            answer,
            Table(heads, rows),
        )

    def _workload(self, setting: Setting) -> str:
        half_h = 420 if setting.full else 48  # the middle of the window
        return f"{WORKLOADS[PLAIN]},burst_factor=2,burst_from={half_h}h"


def _halves(done: Done, change_s: float) -> tuple[tuple[float, int], tuple[float, int]]:
    """(average JCT in hours, jobs) of the measured jobs that came before the change, and after it."""
    jobs = done.whole().jobs
    measured = np.asarray(jobs["in_window"]) == 1
    jct, before = np.asarray(jobs["jct_s"]) / 3600, np.asarray(jobs["submit_s"]) < change_s
    parts = [jct[measured & which] for which in (before, ~before)]
    first, second = ((float(np.nanmean(part)), len(part)) for part in parts)
    return first, second


def _changes_a_day(result: Result) -> float:
    return float(result.summary["changes_of_policy"]) / (float(result.summary["end_s"]) / DAY_S)
