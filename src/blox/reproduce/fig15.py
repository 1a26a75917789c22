from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blox.report.choices import Reigns
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.page import Case, Done, Page, Setting
from blox.reproduce.synthesis import (
    BURSTY,
    DIFFERENCES,
    PLAIN,
    WORKLOADS,
    Switching,
    auto_cases,
    drawn,
    reigns,
    short,
    shown,
    switching,
    window,
)
from blox.reproduce.synthesis_causes import Steps
from blox.reproduce.synthesis_probes import Looks


def verdict(chosen: Mapping[str, Reigns]) -> Verdict:
    """The rule, from the choices on each workload."""
    return judge(
        {name: switching(each) for name, each in chosen.items()},
        {name: longest_ruler(each) for name, each in chosen.items()},
    )


def longest_ruler(found: Reigns) -> str:
    """The combination that ruled longest."""
    return short(found.name[max(range(len(found.name)), key=found.share)])


def judge(found: Mapping[str, Switching], longest: Mapping[str, str]) -> Verdict:
    """The rule, by workload."""
    lively = [each.rulers >= 2 and each.changes_a_day >= 1 for each in found.values()]
    differ = len(set(longest.values())) > 1
    facts = "; ".join(
        f"on the {name} workload {each.rulers} combination{'s' if each.rulers != 1 else ''} ruled for 5 % "
        f"of the time or more, {longest[name]} longest, with {each.changes_a_day:.1f} changes a day"
        for name, each in found.items()
    )
    if all(lively) and differ:
        return Verdict("holds", facts)
    return Verdict("holds in part" if any(lively) or differ else "does not hold", facts)


@dataclass(frozen=True)
class Figure15(Page):
    """Which combination ruled when."""

    title = "Which policies the synthesizer chose when"
    claim = (
        "The synthesizer continuously switches among scheduling policies, and which one it chooses depends "
        "on the workload."
    )
    rule = (
        "Holds if on both workloads at least two combinations rule for at least 5 % of the time each and "
        "the ruling one changes at least once a day, and the one that rules longest differs between the "
        "workloads; in part if one workload has such changes, or the longest rulers differ; otherwise it "
        "does not hold."
    )
    differences = DIFFERENCES
    probes = (Looks(), Steps("", (PLAIN, BURSTY), verdict))

    def setup(self, setting: Setting) -> str:
        return (
            f"The synthesizer's runs of Figure 14: {shown(setting)}, without and with bursts, a choice every "
            f"10 rounds or more. Jobs {window(setting)} are measured; drawn is the first seed."
        )

    def cases(self, setting: Setting) -> list[Case]:
        return [
            case for x, workload in enumerate(WORKLOADS.values()) for case in auto_cases(setting, workload, x)
        ]

    def finding(self, done: Sequence[Done]) -> Finding:
        chosen = {name: _first(done, x) for x, name in enumerate(WORKLOADS)}
        often = (f"{switching(each).changes_a_day:.1f}" for each in chosen.values())
        rows = tuple(
            (combination, *(_share(each, combination) for each in chosen.values()))
            for combination in dict.fromkeys(short(name) for each in chosen.values() for name in each.name)
        )
        rows += (("changes a day", *often),)
        heads = ("ruled", *(f"{name}, of the time" for name in WORKLOADS))
        charts = tuple(
            drawn(each, f"({letter}) {name}") for letter, (name, each) in zip("ab", chosen.items())
        )
        return Finding(Table(heads, rows), charts, verdict(chosen))


def _first(done: Sequence[Done], x: int) -> Reigns:
    found = reigns(next(each for each in done if each.case.x == x))
    assert found is not None, "the synthesizer's runs make choices"
    return found


def _share(found: Reigns, combination: str) -> str:
    share = sum(found.share(at) for at, name in enumerate(found.name) if short(name) == combination)
    return f"{100 * share:.1f} %"


PAGE = Figure15()
