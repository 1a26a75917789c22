"""Why figures 8 and 9 come out otherwise here: how wide jobs are, and whether they outnumber the GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from blox.report.charts import Chart
from blox.reproduce.answer import Cause, Verdict
from blox.reproduce.curves import (
    Curves,
    average_jct_h,
    drawn,
    means,
    responsiveness_min,
    spreads,
    table,
)
from blox.reproduce.elastic_loads import FIFO, LAS, POLLUX, ROUND_MIN, cases
from blox.reproduce.page import Case, Done, Setting
from blox.results.result import Result

LINES = (POLLUX, FIFO, LAS)
CROWDED = 40.0  # jobs/hour: the paper's highest load
NARROW = 4  # GPUs
WIDTHS = (1, 2, 4, 8, 12, 16, 48)  # the last is the widest that any job asks for
CROWD_ROUND_S = 1800.0  # for jobs that take 16.8 hours and wait for days
LIKE = 0.25  # of the JCT: within this Pollux is like FIFO


def jobs_of(setting: Setting) -> int:
    """As many as the paper's trace has; fewer in a hurry."""
    return 160 if setting.full else 60


@dataclass(frozen=True)
class Widths:
    """The same jobs at 40 an hour, each asking for at most so many GPUs, and taking the longer for it."""

    measure: Callable[[Result], float] = average_jct_h
    quantity: str = "average JCT"
    unit: str = "h"

    def cases(self, setting: Setting) -> list[Case]:
        found = []
        for most in WIDTHS if setting.full else (NARROW, 12, 48):
            workload = narrowed(most, setting, f"{CROWDED:g}")
            seeds = setting.seeds(1, 1)
            runs = cases(LINES, workload, (CROWDED,), seeds, cluster="16x4")
            found += [Case(run.line, float(most), run.experiment) for run in runs]
        return found

    def cause(self, done: Sequence[Done]) -> Cause:
        found = spreads(done, self.measure)
        chart = Chart(
            f"GPUs that a job asks for at most, at {CROWDED:g} jobs/hour",
            f"{self.quantity} ({self.unit})",
            drawn(found),
            log_x=True,
            log_y=True,
        )
        return Cause(
            "Is it how many GPUs jobs ask for?",
            self._answer(means(found)),
            table(found, "at most, GPUs", self.unit),
            (chart,),
        )

    def _answer(self, found: Curves) -> str:
        widest = max(found[FIFO])
        off = {most: found[POLLUX][most] / found[FIFO][most] - 1 for most in found[FIFO]}
        near = [most for most in off if abs(off[most]) <= LIKE]
        until = max((most for most in near if all(each in near for each in off if each <= most)), default=0)
        if self.measure is responsiveness_min:
            return (
                f"It makes FIFO unresponsive: with at most {NARROW} GPUs FIFO takes "
                f"{found[FIFO][NARROW]:.0f} minutes to start a job, with up to {widest:g} "
                f"{found[FIFO][widest]:.0f}. Pollux and LAS start jobs within "
                f"{max(*found[POLLUX].values(), *found[LAS].values()):.1f} minutes at any width."
            )
        at_widest = (
            f"With up to {widest:g}, as in the artifact's workloads, it is {100 * off[widest]:+.0f} % off: "
            f"{found[POLLUX][widest]:.2f} h on average, where FIFO has {found[FIFO][widest]:.2f}"
        )
        if not until or widest in near:
            return (
                f"No: with jobs of at most {NARROW} GPUs it is {100 * off[NARROW]:+.0f} % off. {at_widest}."
            )
        return (
            "Yes: FIFO runs jobs at that size, and a wide one that does not fit holds up the others. With "
            f"jobs of at most {until:g} GPUs Pollux is within {100 * LIKE:g} % of FIFO. {at_widest}; Pollux "
            "makes them narrower."
        )


@dataclass(frozen=True)
class NarrowJobs:
    """The page's question once more, with jobs that ask for at most four GPUs."""

    judge: Callable[[Curves], Verdict]
    loads: Callable[[Setting], Sequence[float]]
    measure: Callable[[Result], float] = average_jct_h
    unit: str = "h"

    def cases(self, setting: Setting) -> list[Case]:
        seeds, loads = setting.seeds(1, 1), self.loads(setting)
        at = loads if setting.full else (loads[0], loads[-1])
        return cases(LINES, narrowed(NARROW, setting), at, seeds, cluster="16x4")

    def cause(self, done: Sequence[Done]) -> Cause:
        found = spreads(done, self.measure)
        verdict = self.judge(means(found))
        return Cause(
            f"And with jobs of at most {NARROW} GPUs at every load?",
            f"By the same rule the claim {verdict.word}: {verdict.reason}.",
            table(found, "jobs/h", self.unit),
        )


@dataclass(frozen=True)
class Crowd:
    """One-GPU jobs of 16.8 hours on average, 40 an hour to 64 GPUs: the more come, the more for each GPU.

    Rounds last half an hour.
    """

    measure: Callable[[Result], float] = average_jct_h
    quantity: str = "average JCT"
    unit: str = "h"

    def cases(self, setting: Setting) -> list[Case]:
        nodes, seeds = 4 if setting.full else 2, setting.seeds(1, 1)
        found = []
        for each in (1.0, 2.5, 5.0, 10.0) if setting.full else (1.0, 2.5, 10.0):
            workload = f"elastic:of=gavel:load={CROWDED * nodes / 16:g};jobs={each * 4 * nodes:.0f}"
            runs = cases(LINES, workload, (CROWDED,), seeds, cluster=f"{nodes}x4", round_s=CROWD_ROUND_S)
            found += [Case(run.line, each, run.experiment) for run in runs]
        return found

    def cause(self, done: Sequence[Done]) -> Cause:
        found = spreads(done, self.measure)
        return Cause(
            "Are there ever more jobs than GPUs?",
            "Not with our jobs, which take under an hour, and while there are not, Pollux gives each job a "
            f"GPU and finds more for it. {self._answer(means(found))}",
            table(found, "jobs per GPU", self.unit),
            (
                Chart(
                    "jobs that come, for each GPU",
                    f"{self.quantity} ({self.unit})",
                    drawn(found),
                    log_x=True,
                    log_y=True,
                ),
            ),
        )

    def _answer(self, found: Curves) -> str:
        least, most = min(found[FIFO]), max(found[FIFO])
        if self.measure is responsiveness_min:
            minutes = {line: found[line][most] for line in LINES}
            alone = min(minutes[POLLUX], minutes[FIFO]) - minutes[LAS] >= ROUND_MIN
            told = ", ".join(f"{line} {value:,.0f}" for line, value in minutes.items())
            return (
                f"With jobs of 16.8 hours and {most:g} of them for each GPU, in rounds of half an hour, the "
                f"minutes until the first start are: {told}. "
                f"{'LAS alone stays responsive, as the paper says' if alone else 'LAS is not alone'}."
            )
        off = {each: found[POLLUX][each] / found[FIFO][each] - 1 for each in found[FIFO]}
        near = f"within {100 * LIKE:g} %"
        then = f"then {near}, for each job gets one GPU in turn"
        return (
            "With jobs of 16.8 hours, in rounds of half an hour, Pollux is "
            f"{100 * off[least]:+.0f} % off FIFO while there are {least:g} for each GPU and "
            f"{100 * off[most]:+.0f} % when there are {most:g}: "
            f"{then if abs(off[most]) <= LIKE else f'nearer, but not {near}'}."
        )


def narrowed(most: int, setting: Setting, load: str = "{load}") -> str:
    """The workload of figures 8 and 9, in which no job asks for more GPUs; `{load}` is the load."""
    return f"elastic:of=elastic:load={load};jobs={jobs_of(setting)},max_gpus={most}"
