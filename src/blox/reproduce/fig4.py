from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from blox.experiment.settings import Experiment
from blox.report.charts import Chart
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.distribution import cdf, compare, jcts_s
from blox.reproduce.page import Case, Done, Page, Setting

# The original's own defaults: three queues, demoted at 3250 and 7200 GPU-seconds; GPUs are counted.
ORIGINAL = Experiment(compat="tiresias:schedule=dlas-gpu,scheme=count", label="the original")
MENDED = replace(ORIGINAL, compat=f"{ORIGINAL.compat},running_first=false", label="without its reorder")
SAME = "tiresias:queues=3,threshold=3250+7200"
OURS = Experiment(scheduler=SAME, placement="count", performance="duration", clock="events", label="ours")
IN_ROUNDS = replace(OURS, clock="rounds", label="ours in rounds")
LINES = (ORIGINAL, OURS, MENDED, IN_ROUNDS)

# Where no trace is given: as many jobs and GPUs as Tiresias's testbed had.
STAND_IN = "philly:offered=0.9,gpus=60,max_gpus=8,jobs=480"
CLOSE, NEAR = 0.05, 0.05  # of the average JCT, relative; of the distributions, in shares of jobs


@dataclass(frozen=True)
class Figure4(Page):
    """The public Tiresias simulator against Tiresias as a policy of blox."""

    title = "Tiresias's own simulator against Tiresias in blox"
    claim = "Tiresias as implemented in Blox gives the same distribution of JCTs as Tiresias's own simulator."
    rule = (
        "Holds if on every cluster the average JCTs are within 5 % of each other and the two distributions "
        "nowhere more than 5 percentage points apart; in part if that is so on some cluster, or only one of "
        "the two measures is within its limit; otherwise it does not hold."
    )
    differences = (
        "Without --trace, 480 jobs of Philly's sizes and durations are drawn; the paper replays the 60 jobs "
        "of 60_job.csv, which is part of Tiresias's simulator and not of blox.",
        "The original is our preset, equal to its simulator job by job; the paper runs the simulator itself.",
        "Ours is woken by events as the original is; the paper's Blox decides in rounds, whose length it "
        "does not say here. In rounds of 300 s ours has a column of its own.",
        "Two clusters (32 and 60 GPUs, 16 and 128 with --trace): one on which jobs wait, and one on which "
        "hardly any does. The paper takes that of the original experiment.",
    )

    def setup(self, setting: Setting) -> str:
        where = " and on ".join(f"{gpus:g}" for gpus in self._clusters(setting))
        jobs = setting.trace or f"{STAND_IN} (give --trace tiresias:60_job.csv for the paper's own)"
        return (
            f"The jobs of {jobs} on {where} GPUs. The original is the preset tiresias, which equals its "
            "simulator job by job; ours is the policy tiresias with the same queues, woken by events as the "
            "original is. For comparison, the original without its reorder, by which the running jobs of a "
            "queue go before its waiting jobs (running_first=false), and ours in rounds of 300 s."
        )

    def cases(self, setting: Setting) -> list[Case]:
        jobs = setting.trace or STAND_IN
        return [
            Case(line.label, gpus, replace(line, workload=jobs, cluster=cluster, seed=setting.seed))
            for gpus, cluster in self._clusters(setting).items()
            for line in LINES
        ]

    def finding(self, done: Sequence[Done]) -> Finding:
        jcts = {(each.case.x, each.case.line): jcts_s(each) for each in done}
        found = {gpus: compare(jcts[gpus, ORIGINAL.label], jcts[gpus, OURS.label]) for gpus, _ in jcts}
        heads = ("GPUs", *(f"{line.label}, s" for line in LINES), "ours is off by", "CDFs apart by")
        rows = tuple(
            (
                f"{gpus:g}",
                *(f"{jcts[gpus, line.label].mean():,.1f}" for line in LINES),
                f"{100 * off:+.2f} %",
                f"{100 * apart:.1f} points",
            )
            for gpus, (off, apart) in found.items()
        )
        smallest = min(found)
        lines = tuple(cdf(line.label, jcts[smallest, line.label]) for line in LINES)
        chart = Chart(f"JCT on {smallest:g} GPUs (s)", "share of jobs", lines, steps=True, log_x=True)
        notes = ("The columns of seconds are average JCTs.",)
        return Finding(Table(heads, rows), (chart,), judge(found), notes)

    def _clusters(self, setting: Setting) -> dict[float, str]:
        """GPUs -> cluster: one where jobs wait, and the original's own or its testbed, where few do."""
        return {16.0: "4x4", 128.0: "32x4"} if setting.trace else {32.0: "8x4", 60.0: "15x4"}


def judge(found: Mapping[float, tuple[float, float]]) -> Verdict:
    """The rule. GPUs of the cluster -> (average off by, distributions apart by), as shares."""
    close = {gpus: abs(off) <= CLOSE for gpus, (off, _) in found.items()}
    near = {gpus: apart <= NEAR for gpus, (_, apart) in found.items()}
    facts = "; ".join(
        f"on {gpus:g} GPUs the average is {100 * off:+.2f} % off and the distributions are at most "
        f"{100 * apart:.1f} points apart"
        for gpus, (off, apart) in found.items()
    )
    if all(close.values()) and all(near.values()):
        return Verdict("holds", facts)
    whole = any(close[gpus] and near[gpus] for gpus in found)
    if whole or all(close.values()) or all(near.values()):
        return Verdict("holds in part", facts)
    return Verdict("does not hold", facts)


PAGE = Figure4()
