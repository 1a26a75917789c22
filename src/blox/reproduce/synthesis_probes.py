"""Why the synthesizer does as it does: what it looks at, and whether switching can help at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blox.reproduce.answer import Cause, Table
from blox.reproduce.curves import Curves, curves, means, spreads
from blox.reproduce.page import Case, Done, Setting
from blox.reproduce.synthesis import (
    AUTO,
    BURSTY,
    PLAIN,
    STATIC,
    WORKLOADS,
    Apart,
    auto_cases,
    best,
    both_workloads,
    by_line,
    by_seed,
    jct_h,
    percent,
    static_cases,
)
from blox.results.result import Result
from blox.workloads.table import Array

PAPER = "as in the paper"
LOOKS = {
    AUTO: "",
    "with the true durations": "belief=oracle",
    "where jobs come for 6 hours": "horizon=6h",
    PAPER: "belief=oracle;arrivals=none",
}
DAY_S = 86400.0
_HALF_H = {"full": 420, "quick": 145}  # when the middle of the window is submitted


@dataclass(frozen=True)
class Looks:
    """Other ways of looking ahead: true durations, not so far, as the paper does; one seed."""

    def cases(self, setting: Setting) -> list[Case]:
        seeds = setting.seeds(quick=1, full=1)
        return [
            case
            for name, options in LOOKS.items()
            for x, workload in enumerate(WORKLOADS.values())
            if not x or (setting.full and name != PAPER)  # that one looks far, and takes long
            for case in auto_cases(setting, workload, float(x), options, name, seeds)
        ]

    def cause(self, done: Sequence[Done]) -> Cause:
        jct, often = curves(done, jct_h), curves(done, _changes_a_day)
        names = list(WORKLOADS)
        rows = tuple(
            (line, names[int(x)], f"{value:.2f}", f"{often[line][x]:.1f}")
            for line, points in jct.items()
            for x, value in points.items()
        )
        own, paper = jct[AUTO][0], jct[PAPER][0]
        answer = (
            f"With the first seed, on the {PLAIN} workload, it changes policies {often[AUTO][0]:.1f} times a "
            "day. "
            f"{_beside('With the true durations', jct, often, 'with the true durations')}; "
            f"{_beside('where jobs come for 6 hours', jct, often, 'where jobs come for 6 hours')}. Looking "
            f"ahead as the paper does (true durations, no job comes, until all are done) it has {paper:.2f} "
            f"h where ours has {own:.2f} h, with {often[PAPER][0]:.1f} changes a day."
        )
        heads = ("the synthesizer", "workload", "average JCT, h", "changes a day")
        return Cause("Does it matter how it looks ahead?", answer, Table(heads, rows))


def _beside(words: str, jct: Curves, often: Curves, line: str) -> str:
    """How another way of looking does, beside the synthesizer's own."""
    names = list(WORKLOADS)
    change = ", ".join(
        f"{value:.2f} in place of {jct[AUTO][x]:.2f} h ({names[int(x)]})" for x, value in jct[line].items()
    )
    return f"{words} it changes them {often[line][0]:.1f} times a day, and its average JCT is {change}"


@dataclass(frozen=True)
class AllJobs:
    """The page's own runs, with all jobs counted up to the last measured one."""

    def cases(self, setting: Setting) -> list[Case]:
        return both_workloads(setting)

    def cause(self, done: Sequence[Done]) -> Cause:
        names = list(WORKLOADS)
        measured = {
            name: Apart.of(by_seed(done, x, lambda each: jct_h(each.result))) for x, name in enumerate(names)
        }
        of_all = {name: Apart.of(by_seed(done, x, _all_jct_h)) for x, name in enumerate(names)}
        rows = tuple(
            (name, jobs, each.best, percent((each.off,)), percent(each.by_seed), percent(each.hindsight))
            for jobs, found in (("measured", measured), ("all", of_all))
            for name, each in found.items()
        )
        answer = (
            "The synthesizer weighs all jobs; the page measures some. Over all jobs up to the last measured "
            "one it is "
            + "; ".join(
                f"{percent((each.off,))} off the best static combination ({each.best}) on the {name} workload"
                for name, each in of_all.items()
            )
            + ". Between the synthesizer and the best static combination of the measured jobs, "
            + "; ".join(_fates(done, x, measured[name].best, name) for x, name in enumerate(names))
            + "."
        )
        heads = (
            *("workload", "jobs", "best static combination", "the synthesizer is off by", "with each seed"),
            "off the best of that seed alone",
        )
        return Cause("Do the measured jobs decide which combination is best?", answer, Table(heads, rows))


@dataclass(frozen=True)
class Changing:
    """A workload whose character changes half-way: plain, then bursts. What could switching give at best?"""

    def cases(self, setting: Setting) -> list[Case]:
        workload = f"{WORKLOADS[BURSTY]},burst_from={_HALF_H[setting.scale]}h"
        seeds = setting.seeds(quick=1, full=1)
        return [*static_cases(setting, workload, seeds=seeds), *auto_cases(setting, workload, seeds=seeds)]

    def cause(self, done: Sequence[Done]) -> Cause:
        lines = by_line(done, 0.0)
        change_s = 3600.0 * float(lines[AUTO][0].case.experiment.workload.rpartition("burst_from=")[2][:-1])
        halves = {line: _halves(runs[0], change_s) for line, runs in lines.items()}
        jct = {line: found[0] for line, found in means(spreads(done, jct_h)).items()}
        static = {line: halves[line] for line in STATIC}
        winners = [best({line: found[part][0] for line, found in static.items()}) for part in (0, 1)]
        count = [next(iter(static.values()))[part][1] for part in (0, 1)]
        bound = sum(static[winners[part]][part][0] * count[part] for part in (0, 1)) / sum(count)
        top = best(jct)
        gain = jct[AUTO] / jct[top] - 1
        rows = tuple(
            (line, *(f"{halves[line][part][0]:.2f}" for part in (0, 1)), f"{jct[line]:.2f}")
            for line in (*STATIC, AUTO)
        )
        answer = (
            f"The synthesizer's average JCT is {jct[AUTO]:.2f} h ({100 * gain:+.1f} %), that of the best "
            f"static combination ({top}) {jct[top]:.2f} h. What could be had by one switch: best before the "
            f"change is {winners[0]}, after it {winners[1]}; a scheduler as good as each in its half would "
            f"average {bound:.2f} h ({100 * (bound / jct[top] - 1):+.1f} %)."
        )
        heads = ("policies", "jobs before the change, h", "after it, h", "all, h")
        return Cause(
            "And where the workload changes its character half-way, plain first, then with bursts?",
            answer,
            Table(heads, rows),
        )


def _all_jct_h(done: Done) -> float:
    """The average JCT of all jobs up to the last measured one, in hours; see `_jct_h`."""
    return float(_jct_h(done)[0].mean())


def _jct_h(done: Done) -> tuple[Array, Array]:
    """JCT (h) of all jobs up to the last measured one, and which are measured.

    A job that has not finished counts with the time until the run ended.
    """
    result = done.whole()
    jobs, end_s = result.jobs, float(result.summary["end_s"])
    measured = np.asarray(jobs["in_window"]) == 1
    count = int(np.flatnonzero(measured)[-1]) + 1
    jct_s = np.asarray(jobs["jct_s"])[:count]
    waited_s = end_s - np.asarray(jobs["submit_s"])[:count]
    return np.where(np.isnan(jct_s), waited_s, jct_s) / 3600, measured[:count]


def _fates(done: Sequence[Done], x: float, static: str, name: str) -> str:
    """How many of the measured jobs differ by more than an hour between the synthesizer and a combination."""
    lines, counts = by_line(done, x), []
    for own, other in zip(lines[AUTO], lines[static]):
        (jct, measured), (beside, _) = _jct_h(own), _jct_h(other)
        counts.append(int((np.abs(jct - beside)[measured] > 1).sum()))
    found = f"{', '.join(map(str, counts))} of {int(measured.sum())}"
    return f"{found} differ by more than an hour on the {name} workload"


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
