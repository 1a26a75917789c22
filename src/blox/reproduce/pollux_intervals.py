"""What a longer scheduling interval costs Pollux, and why that is a larger share of our jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from blox.experiment.settings import Experiment
from blox.report.charts import Chart, Line
from blox.reproduce.answer import Cause, Table
from blox.reproduce.curves import average_jct_s, curves, responsiveness_min
from blox.reproduce.page import Case, Done, Setting

SHORT, LONG = 60.0, 480.0  # s
ALIKE = 1.5  # costs that differ by less than this factor are alike
LOAD = 20  # jobs/hour, as in the artifact's workloads
LEARNS, KNOWS = "learns speeds", "knows speeds"
BELIEFS = {LEARNS: "pollux", KNOWS: "pollux:beliefs=oracle"}


def jobs_of(setting: Setting) -> int:
    """As many as the paper's trace has; fewer in a hurry."""
    return 160 if setting.full else 50


def base(setting: Setting, most: int | None = None) -> Experiment:
    """Our jobs under Pollux; with `most`, each asks for at most so many GPUs and takes the longer for it."""
    own = f"load={LOAD},jobs={jobs_of(setting)}"
    workload = (
        f"elastic:{own}" if most is None else f"elastic:of=elastic:{own.replace(',', ';')},max_gpus={most}"
    )
    return Experiment(
        workload=workload, cluster="16x4", scheduler="pollux", performance="goodput",
        overheads="launch=30,restart=30",
    )  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """Pollux that knows how fast jobs are on any GPUs, beside Pollux that finds out by doubling them."""

    def cases(self, setting: Setting) -> list[Case]:
        return [
            Case(line, interval, replace(base(setting), scheduler=scheduler, round_s=interval, seed=seed))
            for line, scheduler in BELIEFS.items()
            for interval in (SHORT, LONG)
            for seed in setting.seeds(1, 1)
        ]

    def cause(self, done: Sequence[Done]) -> Cause:
        jct, until_start = curves(done, average_jct_s), curves(done, responsiveness_min)
        cost = {line: (points[LONG] - points[SHORT]) / 60 for line, points in jct.items()}
        waits = until_start[LEARNS][LONG] - until_start[LEARNS][SHORT]
        doubling = cost[LEARNS] - cost[KNOWS]
        rows = tuple(
            (line, *(f"{points[at] / 60:.1f}" for at in (SHORT, LONG)), f"{cost[line]:+.1f}")
            for line, points in jct.items()
        )
        return Cause(
            "What does a longer interval cost?",
            f"Rounds of {LONG:g} s instead of {SHORT:g} s cost {cost[LEARNS]:.1f} minutes a job. Of these, "
            f"{doubling:.1f} are the price of learning: a job begins with one GPU and at most doubles them "
            f"from round to round, which a Pollux that knows all speeds does not have to. {waits:.1f} are "
            "spent waiting for the first round.",
            Table(("Pollux", f"average JCT at {SHORT:g} s, min", f"at {LONG:g} s, min", "cost, min"), rows),
        )


@dataclass(frozen=True)
class Lengths:
    """The same jobs made longer by giving each at most a few GPUs: the cost stays, its share shrinks."""

    theirs: tuple[float, float]  # the artifact's average JCTs (s) at the two intervals

    def cases(self, setting: Setting) -> list[Case]:
        return [
            Case(
                f"at most {most} GPUs" if most else "as they ask",
                interval,
                replace(base(setting, most), round_s=interval, seed=seed),
            )
            for most in ((4, 8, None) if setting.full else (8, None))
            for interval in (SHORT, LONG)
            for seed in setting.seeds(1, 1)
        ]

    def cause(self, done: Sequence[Done]) -> Cause:
        jct = {line: (points[SHORT], points[LONG]) for line, points in curves(done, average_jct_s).items()}
        ours, told = "our jobs", {**jct, "the artifact's workloads": self.theirs}
        ordered = sorted(jct.values())
        share = [100 * (slow / fast - 1) for fast, slow in ordered]
        minutes = [(slow - fast) / 60 for fast, slow in ordered]
        alike, shrinks = max(minutes) <= ALIKE * min(minutes), share[-1] < share[0]
        word = "Yes" if alike and shrinks else "In part" if shrinks else "No"
        rows = tuple(
            (name, f"{fast / 60:.0f}", f"{(slow - fast) / 60:+.1f}", f"{100 * (slow / fast - 1):+.0f} %")
            for name, (fast, slow) in told.items()
        )
        lost = 100 * (self.theirs[1] / self.theirs[0] - 1)
        line = Line(ours, tuple(fast / 60 for fast, _ in ordered), tuple(share))
        point = Line("the artifact's", (self.theirs[0] / 60,), (lost,))
        return Cause(
            "Is it that our jobs are shorter?",
            f"{word}. The cost is {min(minutes):.1f} to {max(minutes):.1f} minutes; as a share "
            f"it is {share[0]:.0f} % of jobs that take {ordered[0][0] / 60:.0f} minutes and "
            f"{share[-1]:.0f} % of jobs that take {ordered[-1][0] / 60:.0f}. The artifact's take "
            f"{self.theirs[0] / 60:.0f} minutes and lose {lost:.0f} %.",
            Table(
                ("jobs", f"average JCT at {SHORT:g} s, min", f"cost of {LONG:g} s, min", "as a share"), rows
            ),
            (Chart("average JCT with rounds of 60 s (min)", "cost of rounds of 480 s (%)", (line, point)),),
        )
