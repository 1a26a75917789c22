from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from blox.report.charts import Bar, Bars
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.curves import Spread, average_jct_h, spreads
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.synthesis import (
    AUTO,
    DIFFERENCES,
    STATIC,
    UNFINISHED,
    WORKLOADS,
    Apart,
    both_workloads,
    by_seed,
    jct_h,
    percent,
    shown,
    window,
)
from blox.reproduce.synthesis_causes import Durations
from blox.reproduce.synthesis_probes import AllJobs, Changing
from blox.results.result import Result

NEAR, FAR = 0.05, 0.10  # off the best static combination


@dataclass(frozen=True)
class Figure14(Page):
    """The synthesizer against every static combination: average JCT."""

    title = "The synthesizer against static policies: average JCT"
    claim = (
        "A scheduler that chooses among FIFO, SRTF and LAS behind three admission policies while jobs run "
        "closely matches the best static combination on the Philly trace and on bursty load, where different "
        "ones are best."
    )
    rule = (
        "The best static combination of a workload is the one with the lowest average JCT over all seeds: "
        "one for the workload, not one for each seed. Holds if the synthesizer's average JCT over the same "
        "seeds is at most 5 % above its on both workloads; in part if on one of them, or at most 10 % on "
        "both; otherwise it does not hold."
    )
    differences = DIFFERENCES
    unfinished = UNFINISHED
    probes = (AllJobs(), Durations(), Changing())

    def setup(self, setting: Setting) -> str:
        return (
            f"{shown(setting)}, without and with bursts: short jobs besides at twice the load, for two hours "
            "of every four. Nine static combinations, and the synthesizer, which chooses among them every 10 "
            f"rounds or more by the average JCT. Jobs {window(setting)} are measured."
        )

    def cases(self, setting: Setting) -> list[Case]:
        return both_workloads(setting)

    def finding(self, done: Sequence[Done]) -> Finding:
        found = spreads(done, jct_h)
        apart, finished = (_apart(done, measure) for measure in (jct_h, average_jct_h))
        rows = tuple(
            (line, *(found[line][x].text() for x in range(len(WORKLOADS)))) for line in (*STATIC, AUTO)
        )
        rows += (
            ("off the best static combination by", *(percent((each.off,)) for each in apart.values())),
            ("with each seed", *(percent(each.by_seed) for each in apart.values())),
            ("off the best of that seed alone", *(percent(each.hindsight) for each in apart.values())),
        )
        heads = ("policies", *(f"{name}, h" for name in WORKLOADS))
        notes = tuple(
            f"On the {name} workload {each.best} is the best static combination."
            for name, each in apart.items()
        )
        notes += tuple(
            f"If jobs that did not finish were left out, {other.best} would be the best on the {name} "
            f"workload, and the synthesizer {percent((other.off,))} off it."
            for name, other in finished.items()
            if other.best != apart[name].best
        )
        verdict = judge({name: each.off for name, each in apart.items()})
        return Finding(Table(heads, rows), (bars(found, "average JCT (h)"),), verdict, notes)


def _apart(done: Sequence[Done], measure: Callable[[Result], float]) -> dict[str, Apart]:
    """How far the synthesizer is above static combinations on each workload, by a measure of a run."""
    return {
        name: Apart.of(by_seed(done, x, lambda each: measure(each.result)))
        for x, name in enumerate(WORKLOADS)
    }


def bars(
    found: Mapping[str, Mapping[float, Spread]], y_title: str, names: Sequence[str] = tuple(WORKLOADS)
) -> Bars:
    """A group per combination, a bar for each of the workloads."""
    groups = (*STATIC, AUTO)
    drawn = []
    for x, name in enumerate(names):
        values = [found[line][x] for line in groups]
        ends = [tuple(value[part] for value in values) for part in range(3)]
        drawn.append(Bar(name, *ends))
    return Bars(groups, y_title, tuple(drawn))


def judge(off: Mapping[str, float]) -> Verdict:
    """The rule: workload -> how far the synthesizer is above the best static combination, as a share."""
    facts = " and ".join(
        f"{100 * each:+.1f} % off the best on the {name} workload" for name, each in off.items()
    )
    near = [each <= NEAR for each in off.values()]
    if all(near):
        return Verdict("holds", f"the synthesizer is {facts}")
    some = any(near) or all(each <= FAR for each in off.values())
    return Verdict("holds in part" if some else "does not hold", f"the synthesizer is {facts}")


PAGE = Figure14()
