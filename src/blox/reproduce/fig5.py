from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from blox.experiment.settings import Experiment
from blox.optional import declared
from blox.report.charts import Chart
from blox.reproduce.answer import Cause, Finding, Table, Verdict
from blox.reproduce.distribution import cdf, compare, jcts_s
from blox.reproduce.page import Case, Done, Page, Setting
from blox.workloads.spec import workload_from_spec

CLUSTER = "16x8:cpu=24,memory_gb=500"
MODES = {"proportional": "fair", "tune": "tune"}  # as the paper calls them -> as the original does
WINDOW = "4000-4999"
LOAD = 9.0  # jobs/hour: that of the value which the artifact publishes
PUBLISHED_H = (21.8766, 156.933)  # average JCT and p99 with tune, in the artifact's own notes
CLOSE, NEAR = 0.05, 0.05  # of the average JCT, relative; of the distributions, in shares of jobs


def both(mode: str, load: float, jobs: str, window: str, seed: int) -> list[Case]:
    """The original and ours with the same jobs."""
    common = Experiment(workload=jobs, cluster=CLUSTER, window=window, seed=seed)
    original = replace(common, compat=f"synergy:schedule=FIFO,allocation={MODES[mode]}")
    ours = replace(
        common,
        scheduler="fifo:strict=false,preempt=true",
        placement=f"synergy:mode={mode}",
        performance="sensitivity",
    )
    sides = {f"{mode}, the original": original, f"{mode}, ours": ours}
    return [Case(name, load, replace(run, label=name)) for name, run in sides.items()]


@dataclass(frozen=True)
class Loads:
    """Tune once more with fewer jobs an hour, so that hardly any waits."""

    def cases(self, setting: Setting) -> list[Case]:
        window = _window_of_drawn(setting)
        return [
            case
            for load in ((7.0, 8.0, LOAD) if setting.full else (7.0, LOAD))
            for case in both("tune", load, f"synergy:load={load:g}", window, setting.seed)
        ]

    def cause(self, done: Sequence[Done]) -> Cause:
        jcts = {(each.case.line, each.case.x): jcts_s(each) for each in done}
        waits = {each.case.x: queueing_h(each) for each in done if each.case.line == "tune, ours"}
        found = {load: compare(jcts["tune, the original", load], jcts["tune, ours", load]) for load in waits}
        told = "; ".join(
            f"at {load:g}, where jobs wait {waits[load]:.1f} h, averages are {100 * off:+.1f} % and "
            f"distributions {100 * apart:.1f} points apart"
            for load, (off, apart) in found.items()
        )
        rows = tuple(
            (f"{load:g}", f"{waits[load]:.2f}", f"{100 * off:+.2f} %", f"{100 * apart:.1f} points")
            for load, (off, apart) in found.items()
        )
        heads = ("jobs/h", "wait, h", "off by", "CDFs apart by")
        return Cause(
            "Does the difference grow with the queue?",
            f"By jobs an hour, drawn, with Tune: {told}.",
            Table(heads, rows),
        )


@dataclass(frozen=True)
class Figure5(Page):
    """The public Synergy simulator against Synergy as a placement of blox."""

    title = "Synergy's own simulator against Synergy in blox"
    claim = (
        "Synergy's Proportional and Tune as implemented in Blox give the same distributions of JCTs as "
        "Synergy's own simulator, and Tune the shorter ones."
    )
    rule = (
        "Holds if for both modes the average JCTs are within 5 % of each other and the two distributions "
        "nowhere more than 5 percentage points apart, and Tune's average is the lower one in both "
        "simulators; in part if Tune's is the lower one in both and one of the modes agrees so; otherwise "
        "it does not hold."
    )
    differences = (
        "Without --trace, jobs are drawn at the load of the artifact's published value, 9 an hour, and in a "
        "hurry an earlier window is measured, before the queue has grown; the paper replays Synergy's jobs.",
        "The original is our preset, equal to its simulator job by job; the paper runs the simulator itself.",
        "In ours running jobs stay where they are, speeds follow the whole profile of a job, and cores and "
        "memory that no job asked for are handed out; the original places all jobs anew in every round.",
    )

    probes = (Loads(),)

    def setup(self, setting: Setting) -> str:
        jobs = setting.trace or f"synergy:load={LOAD:g} (--trace synergy:jobs.csv for the artifact's own)"
        window = self._window(setting)
        return (
            f"The jobs of {jobs}, {f'window {window}' if window else 'all of them'}, in order of arrival, "
            "on 16 servers of 8 GPUs, 24 cores and 500 GB. The original is the preset synergy, which equals "
            "its simulator job by job; ours is the placement synergy under fifo, where running jobs stay "
            "where they are, speeds follow the whole profile, and leftover cores and memory are handed out."
        )

    def cases(self, setting: Setting) -> list[Case]:
        jobs = setting.trace or f"synergy:load={LOAD:g}"
        return [
            case for mode in MODES for case in both(mode, LOAD, jobs, self._window(setting), setting.seed)
        ]

    def finding(self, done: Sequence[Done]) -> Finding:
        jcts = {each.case.line: jcts_s(each) / 3600 for each in done}
        found = {mode: compare(jcts[f"{mode}, the original"], jcts[f"{mode}, ours"]) for mode in MODES}
        averages = {line: float(times.mean()) for line, times in jcts.items()}
        rows = tuple(
            (
                mode,
                f"{averages[f'{mode}, the original']:.2f}",
                f"{averages[f'{mode}, ours']:.2f}",
                *(f"{np.percentile(jcts[f'{mode}, {side}'], 99):.2f}" for side in ("the original", "ours")),
                f"{100 * off:+.2f} %",
                f"{100 * apart:.1f} points",
            )
            for mode, (off, apart) in found.items()
        )
        lines = tuple(cdf(line, times) for line, times in jcts.items())
        chart = Chart("JCT (h)", "share of jobs", lines, steps=True, log_x=True)
        heads = ("mode", "the original, h", "ours, h", "p99, h", "ours p99, h", "off by", "CDFs apart by")
        exact = averages["tune, the original"], float(np.percentile(jcts["tune, the original"], 99))
        notes = (
            "Hours are JCTs, the first two columns averages.",
            f"The original with tune, to more digits: {exact[0]:.4f} h, p99 {exact[1]:.3f} h. Its artifact "
            f"publishes {PUBLISHED_H[0]} h and {PUBLISHED_H[1]} h for jobs of its own.",
        )
        return Finding(Table(heads, rows), (chart,), judge(found, averages), notes)

    def _window(self, setting: Setting) -> str:
        """The paper's, where there are as many jobs; without a trace and in a hurry, a sooner one."""
        if not setting.trace:
            return _window_of_drawn(setting)
        table = declared(workload_from_spec(setting.trace), "table")
        return WINDOW if table is None or len(table) >= 5000 else ""


def queueing_h(done: Done) -> float:
    """How long the measured jobs waited, on average (h)."""
    return float(done.result.summary["avg_queueing_s"]) / 3600


def _window_of_drawn(setting: Setting) -> str:
    return WINDOW if setting.full else "1000-1499"


def judge(found: Mapping[str, tuple[float, float]], averages: Mapping[str, float]) -> Verdict:
    """The rule. Mode -> (average off by, distributions apart by), as shares; line -> average JCT."""
    agree = [abs(off) <= CLOSE and apart <= NEAR for off, apart in found.values()]
    sooner = all(
        averages[f"tune, {side}"] < averages[f"proportional, {side}"] for side in ("the original", "ours")
    )
    facts = "; ".join(
        f"{mode}: the average is {100 * off:+.2f} % off, the distributions are at most {100 * apart:.1f} "
        "points apart"
        for mode, (off, apart) in found.items()
    )
    facts += f"; Tune is {'the quicker' if sooner else 'not the quicker'} in both"
    if sooner and all(agree):
        return Verdict("holds", facts)
    if sooner and any(agree):
        return Verdict("holds in part", facts)
    return Verdict("does not hold", facts)


PAGE = Figure5()
