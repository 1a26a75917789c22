from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blox.report.charts import Chart, Line
from blox.reproduce.answer import Cause, Finding, Table, Verdict
from blox.reproduce.curves import average_jct_h, curves
from blox.reproduce.gavel_runs import (
    AWARE_LAS,
    COMPARISONS,
    COST,
    JCT,
    LAS,
    MAKESPAN,
    MAKESPAN_GANDIVA,
    Comparison,
    cases,
)
from blox.reproduce.page import Case, Done, Page, Setting
from blox.results.result import Result
from blox.schedulers.gavel.problem import COST_PER_HOUR
from blox.state.cluster_spec import cluster_from_spec

CLAIMED_JCT, CLAIMED_MAKESPAN = 3.5, 1.4
UNITS = {JCT: "h", MAKESPAN: "h", COST: "$"}
# Average JCT (h) of agnostic and of aware LAS by jobs/hour, as published with the authors' code.
AUTHORS = {5.2: (63.8, 22.0), 5.6: (96.0, 29.0)}
Values = Mapping[tuple[str, float], Mapping[str, float]]  # (line, load) -> measure -> value


@dataclass(frozen=True)
class ByLoad:
    """LAS that knows types apart against LAS that does not, by load: the page's own runs."""

    def cases(self, setting: Setting) -> list[Case]:
        return [case for case in cases(setting) if case.line in AWARE_LAS.lines]

    def cause(self, done: Sequence[Done]) -> Cause:
        found = curves(done, average_jct_h)
        other, ours = (found[line] for line in AWARE_LAS.lines)
        factors = {load: other[load] / ours[load] for load in ours}
        low, high = min(factors), max(factors)
        told = ", ".join(f"{factor:.2f}x at {load:g}" for load, factor in factors.items())
        theirs = {load: agnostic / aware for load, (agnostic, aware) in AUTHORS.items() if load in factors}
        published = ", ".join(f"{factor:.2f}x at {load:g}" for load, factor in theirs.items())
        answer = (
            f"{'Yes' if factors[high] > factors[low] else 'No'}: by jobs an hour it is {told}. From {low:g} "
            f"to {high:g} an hour agnostic LAS has {other[high] / other[low]:.1f} times the average JCT, "
            f"aware LAS {ours[high] / ours[low]:.1f} times."
        )
        answer += f" The authors' published results give {published}." if theirs else ""
        rows = tuple(
            (f"{load:g}", f"{other[load]:.2f}", f"{ours[load]:.2f}", f"{factor:.2f}x")
            for load, factor in factors.items()
        )
        heads = ("jobs/h", "agnostic LAS, h", "aware LAS, h", "factor")
        return Cause("Does the factor depend on the load?", answer, Table(heads, rows))


@dataclass(frozen=True)
class GavelClaims(Page):
    """Gavel's headline comparisons (OSDI'20): policies that know GPU types apart against others."""

    title = "Gavel: knowing GPU types apart, and sharing GPUs, against not knowing"
    claim = (
        "Policies that know how fast each job is on each GPU type improve the average JCT by up to 3.5x and "
        "the makespan by up to 1.4x over those that do not (Gavel, OSDI'20)."
    )
    differences = (
        "The scheduler is our policy gavel, whose mechanisms differ from the authors' simulator "
        "(docs/fidelity.md).",
        "FIFO holds a job on its GPUs until it ends; the authors' hands out types more often than they have "
        "GPUs, and jobs take turns.",
        "At full scale hierarchical fairness is asked at 2 jobs an hour: at 2.6 the queue of one tenant "
        "grows without end where types are not told apart.",
        "One seed.",
    )
    probes = (ByLoad(),)
    rule = (
        "The claim about JCT holds if aware LAS beats agnostic LAS by 3.5x or more at one of the loads, that "
        "about the makespan if the aware policy beats Gandiva by 1.4x or more. Both: holds. One, or both "
        "by at least half of the gain that is claimed: in part. Otherwise it does not hold."
    )

    def setup(self, setting: Setting) -> str:
        size = "36:36:36 GPUs, jobs 4000 to 4999" if setting.full else "12:12:12 GPUs (36:36:36 for several)"
        smaller = (
            " The cluster of LAS with one GPU and of jobs that come at once is a third of theirs, and so are "
            "loads and numbers of jobs."
        )
        return (
            f"Gavel's synthetic jobs of 26 types on V100, P100 and K80: {size}, rounds of 6 minutes. LAS at "
            "several loads, the others at one or with all jobs at once. Factors claimed are those of the "
            "results that the authors published."
        ) + ("" if setting.full else smaller)

    def cases(self, setting: Setting) -> list[Case]:
        return cases(setting)

    def finding(self, done: Sequence[Done]) -> Finding:
        values = {(each.case.line, each.case.x): _values(each) for each in done}
        rows = tuple(_row(each, load, values) for each in COMPARISONS for load in _loads(each, values))
        late = {line: found["late"] for (line, _), found in values.items() if line.startswith("cost")}
        lines = tuple(
            Line(
                f"{LAS}: {_WORDS[line]}",
                tuple(x for name, x in values if name == line),
                tuple(values[line, x][JCT] for name, x in values if name == line),
            )
            for line in dict.fromkeys(name for name, _ in values if name.startswith(LAS))
        )
        heads = ("comparison", "jobs/h", "by", "other", "Gavel", "claimed", "found")
        missed = (f"{_WORDS[line]} {100 * part:.0f} %" for line, part in late.items())
        notes = (f"SLOs missed: {', '.join(missed)}.",)
        las = max(_factor(AWARE_LAS, load, values) for load in _loads(AWARE_LAS, values))
        makespan = _factor(MAKESPAN_GANDIVA, 0.0, values)
        chart = Chart("load (jobs per hour)", "average JCT (h)", lines)
        return Finding(Table(heads, rows), (chart,), judge(las, makespan), notes)


# The policy of each line in the words of its comparison.
_WORDS = {
    line: words for each in COMPARISONS for line, words in zip(each.lines, reversed(each.words.split(" / ")))
}


def judge(jct: float, makespan: float) -> Verdict:
    """The rule, from the two factors found."""
    facts = (
        f"aware LAS lowers the average JCT by up to {jct:.2f}x ({CLAIMED_JCT:g}x claimed), the makespan is "
        f"{makespan:.2f}x lower than Gandiva's ({CLAIMED_MAKESPAN:g}x claimed)"
    )
    found = (jct, CLAIMED_JCT), (makespan, CLAIMED_MAKESPAN)
    held = [factor >= claimed for factor, claimed in found]
    half = [factor - 1 >= (claimed - 1) / 2 for factor, claimed in found]
    if all(held):
        return Verdict("holds", facts)
    return Verdict("holds in part" if any(held) or all(half) else "does not hold", facts)


def _loads(each: Comparison, values: Values) -> list[float]:
    return [x for line, x in values if line == each.lines[1]]


def _factor(each: Comparison, load: float, values: Values) -> float:
    other, ours = (values[line, load][each.measure] for line in each.lines)
    return other / ours


def _row(each: Comparison, load: float, values: Values) -> tuple[str, ...]:
    other, ours = (values[line, load][each.measure] for line in each.lines)
    unit = UNITS[each.measure]
    return (
        f"{each.name}: {each.words}",
        f"{load:g}" if load else "at once",
        each.measure,
        f"{other:,.2f} {unit}".strip(),
        f"{ours:,.2f} {unit}".strip(),
        "–" if each.claimed != each.claimed else f"{each.claimed:g}x",
        f"{other / ours:.2f}x",
    )


def _values(done: Done) -> dict[str, float]:
    summary = done.result.summary
    found = {
        JCT: float(summary["avg_jct_s"]) / 3600,
        MAKESPAN: float(summary["makespan_s"]) / 3600,
    }
    if done.case.line.startswith("cost"):
        found[COST], found["late"] = _cost(done), _late(done)
    return found


def _cost(done: Done) -> float:
    """US dollars for all GPU time, by type."""
    nodes = cluster_from_spec(done.case.experiment.cluster).nodes
    prices = np.array([COST_PER_HOUR[node.gpu_type] for node in nodes for _ in range(node.gpus)])
    stints = Result.load(done.directory).stints
    return float((prices[stints["gpu"]] * (stints["end_s"] - stints["start_s"])).sum() / 3600)


def _late(done: Done) -> float:
    """The share of jobs that missed their deadline."""
    with (done.directory / "jobs.csv").open(newline="", encoding="utf-8") as file:
        late = [float(row["finish_s"]) > float(row["deadline_s"]) for row in csv.DictReader(file)]
    return sum(late) / len(late)


PAGE = GavelClaims()
