"""Why figures 6 and 7 come out otherwise here: the public Blox simulator's own set-up, step by step to ours.

Its simulations run one-GPU jobs with Gavel's synthetic durations, of which 128 GPUs can do 7.6 an hour. Its
Tiresias is a single queue by attained service, in which a job that starves for 1000 hours goes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from blox.experiment.settings import Experiment
from blox.report.charts import Chart, Line
from blox.reproduce.answer import Cause, Table, Verdict
from blox.reproduce.curves import Curves, average_jct_h, drawn, excess, means, spreads, table
from blox.reproduce.elastic_loads import FIFO, OPTIMUS, TIRESIAS, WINDOW
from blox.reproduce.page import Case, Done, Setting
from blox.results.result import Result

PRESET = {FIFO: "Fifo", TIRESIAS: "Tiresias", OPTIMUS: "Optimus"}
ONE_QUEUE = "promote:policy=las,after_s=3600000,lag_s=300"
SCHEDULERS = {FIFO: "fifo", "one queue": ONE_QUEUE, "two queues": "tiresias"}
MIXES = {
    "one-GPU jobs": "gavel:offered={share:g},gpus=128",
    "Philly's jobs": "philly:max_gpus=16,offered={share:g},gpus=128",
}
BELOW, ABOVE = 0.84, 1.05  # of what the cluster can do: 9 of our jobs an hour, 8 of theirs


@dataclass(frozen=True)
class OriginalSetup:
    """The same question to the public simulator's own policies and jobs, by the page's rule."""

    judge: Callable[[Curves], Verdict]
    measure: Callable[[Result], float] = average_jct_h
    quantity: str = "average JCT"
    unit: str = "h"

    def cases(self, setting: Setting) -> list[Case]:
        loads = range(1, 10) if setting.full else (2, 8, 9)
        return [
            Case(line, float(load), self._run(policy, load, seed))
            for line, policy in PRESET.items()
            for load in loads
            for seed in setting.seeds(1, 1)
        ]

    def cause(self, done: Sequence[Done]) -> Cause:
        found = spreads(done, self.measure)
        verdict = self.judge(means(found))
        chart = Chart("load (jobs per hour)", f"{self.quantity} ({self.unit})", drawn(found), log_y=True)
        return Cause(
            "Does it hold in the original's own set-up?",
            f"There, by the same rule, it {verdict.word}: {verdict.reason}. (The preset `blox`, equal to the "
            "public simulator job by job, on one-GPU jobs with Gavel's synthetic durations.)",
            table(found, "jobs/h", self.unit),
            (chart,),
        )

    def _run(self, policy: str, load: int, seed: int) -> Experiment:
        given = f",load={load}" if policy == "Optimus" else ""  # its progress depends on it
        return Experiment(
            compat=f"blox:policy={policy}{given}", workload=f"gavel:load={load}", window=WINDOW, seed=seed
        )


@dataclass(frozen=True)
class Crowding:
    """From how full a cluster on LAS is slower than FIFO: one queue or two, their jobs or ours."""

    def cases(self, setting: Setting) -> list[Case]:
        shares = (0.8, BELOW, 0.9, 0.95, 1.0, ABOVE, 1.1, 1.2) if setting.full else (BELOW, ABOVE)
        base = Experiment(performance="duration", window=WINDOW)
        return [
            Case(
                f"{jobs}, {line}",
                share,
                replace(base, scheduler=scheduler, workload=workload.format(share=share), seed=seed),
            )
            for jobs, workload in MIXES.items()
            for line, scheduler in SCHEDULERS.items()
            for share in shares
            for seed in setting.seeds(1, 1)
        ]

    def cause(self, done: Sequence[Done]) -> Cause:
        found = means(spreads(done))
        behind = {
            f"{jobs}, {line}": excess(found[f"{jobs}, {line}"], found[f"{jobs}, {FIFO}"])
            for jobs in MIXES
            for line in SCHEDULERS
            if line != FIFO
        }
        lines = tuple(
            Line(name, tuple(points), tuple(100 * value for value in points.values()), like=_like(name))
            for name, points in behind.items()
        )
        rows = tuple(
            (f"{share:g}", *(f"{100 * points[share]:+.1f} %" for points in behind.values()))
            for share in next(iter(behind.values()))
        )
        return Cause(
            "What makes Tiresias slower than FIFO there?",
            self._answer(behind),
            Table(("share of the capacity", *(f"{name}, off FIFO" for name in behind)), rows),
            (
                Chart(
                    "work offered, as a share of what the cluster can do", "off FIFO's average JCT (%)", lines
                ),
            ),
        )

    def _answer(self, behind: Mapping[str, Mapping[float, float]]) -> str:
        theirs, ours = MIXES
        below = max(abs(points[BELOW]) for points in behind.values())
        at = {
            (jobs, queues): f"{100 * behind[f'{jobs}, {queues}'][ABOVE]:+.0f} %"
            for jobs in MIXES
            for queues in ("one queue", "two queues")
        }
        return (
            f"More work than the cluster can do, one-GPU jobs, and one queue. At {BELOW:g} of the capacity, "
            f"where 9 of our jobs an hour are, all are within {100 * below:.1f} % of FIFO. At {ABOVE:g} of "
            f"it, where 8 of the original's jobs an hour are, a single queue is {at[theirs, 'one queue']} "
            "off FIFO, for long jobs starve; Tiresias's own two queues, in order of arrival each, are "
            f"{at[theirs, 'two queues']} off. With the sizes and durations of Philly's jobs at the same "
            f"{ABOVE:g} they are {at[ours, 'one queue']} and {at[ours, 'two queues']} off: short jobs are "
            "many, and wide jobs hold up FIFO's queue."
        )


def _like(name: str) -> str:
    """Two queues are drawn dashed, in the colour of one queue with the same jobs."""
    return name.replace("two queues", "one queue") if "two queues" in name else ""
