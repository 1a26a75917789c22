from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blox.report.charts import Bar, Bars
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.curves import Spread, spreads
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.synthesis import (
    AUTO,
    DIFFERENCES,
    STATIC,
    WORKLOADS,
    auto_cases,
    best,
    jct_h,
    shown,
    static_cases,
    window,
)
from blox.reproduce.synthesis_probes import Changing

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
        "Holds if the synthesizer's average JCT is at most 5 % above that of the best static combination on "
        "both workloads; in part if on one of them, or at most 10 % on both; otherwise it does not hold."
    )
    differences = DIFFERENCES
    probes = (Changing(),)

    def setup(self, setting: Setting) -> str:
        return (
            f"{shown(setting)}, without and with bursts: short jobs besides at twice the load, for two hours "
            "of every four. Nine static combinations, and the synthesizer, which chooses among them every 10 "
            f"rounds or more by the average JCT. Jobs {window(setting)} are measured."
        )

    def cases(self, setting: Setting) -> list[Case]:
        return [
            case
            for x, workload in enumerate(WORKLOADS.values())
            for case in (*static_cases(setting, workload, x), *auto_cases(setting, workload, x))
        ]

    def finding(self, done: Sequence[Done]) -> Finding:
        found = spreads(done, jct_h)
        means = {name: {line: found[line][x].mean for line in found} for x, name in enumerate(WORKLOADS)}
        off = {name: values[AUTO] / values[best(values)] - 1 for name, values in means.items()}
        rows = tuple(
            (line, *(found[line][x].text() for x in range(len(WORKLOADS)))) for line in (*STATIC, AUTO)
        )
        apart = ("the synthesizer is off the best by", *(f"{100 * each:+.1f} %" for each in off.values()))
        heads = ("policies", *(f"{name}, h" for name in WORKLOADS))
        notes = tuple(
            f"On the {name} workload {best(values)} is the best static combination."
            for name, values in means.items()
        )
        return Finding(Table(heads, (*rows, apart)), (bars(found, "average JCT (h)"),), judge(off), notes)


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
