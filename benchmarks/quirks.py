"""What each quirk of the original Blox does to its results: everything as in the original, less one quirk.

    python benchmarks/quirks.py [JOBS.csv] [--window 200-500]

JOBS.csv is a job list of the original (default: the multi-GPU one of the shared goldens). Prints the table
in docs/fidelity.md: the average JCT under FIFO, SRTF and LAS, and what becomes of it when a quirk is off.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from blox import Allocation, ClusterState, Experiment, JobState, Schedule
from blox.admission_control.threshold import Threshold
from blox.composition import Composition
from blox.performance.overheads import Overheads
from blox.placement.scattered import Scattered
from blox.placement.walk.by_node import place_by_node
from blox.schedulers.promote import Promote

POLICIES = ("Fifo", "Srtf", "Las")
SHARED = Path(os.environ.get("BLOX_SHARED", Path(__file__).parents[2] / "shared"))
Change = Callable[[Composition], Composition]
Summary = dict[str, Any]


@dataclass(frozen=True)
class Undone(Scattered):
    """The original's search, but who was preempted in vain is put back."""

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Allocation:
        return place_by_node(schedule, cluster_state, job_state, self, undo=True)


def part(**parts: object) -> Change:
    return lambda composition: replace(composition, **parts)  # type: ignore[arg-type]


def option(**options: bool) -> Change:
    return lambda composition: replace(composition, options=replace(composition.options, **options))


def order(**parameters: object) -> Change:
    """Other parameters of the wrapper that promotes starved jobs."""

    def changed(composition: Composition) -> Composition:
        assert isinstance(composition.scheduler, Promote)
        return replace(composition, scheduler=replace(composition.scheduler, **parameters))  # type: ignore[arg-type]

    return changed


def inner(old: str, new: str) -> Change:
    """Another parameter of the policy that the wrapper orders by."""

    def changed(composition: Composition) -> Composition:
        assert isinstance(composition.scheduler, Promote)
        return order(policy=composition.scheduler.policy.replace(old, new))(composition)

    return changed


WITHOUT: dict[str, Change] = {
    "strict order": inner("strict=true", "strict=false"),
    "placement=asis": part(placement=Scattered(fixed=True)),
    "preemption not undone": part(placement=Undone()),
    "LAS by plain time": inner("las:by=time", "las:by=gpu-time"),
    "starvation": order(after_s=1e15),
    "whole_round_credit": option(whole_round_credit=False),
    "finish_at_boundary": option(finish_at_boundary=False),
    "these two together": option(whole_round_credit=False, finish_at_boundary=False),
    "responsiveness_late": option(responsiveness_late=False),
    "moves_are_preemptions": option(moves_are_preemptions=False),
    "no overheads": part(overheads=Overheads(launch_s=20.0, restart_s=30.0)),
    "accept=1.2 overshoots": part(admission=Threshold(1.2)),
}


def run(policy: str, jobs: str, window: str, quirk: str, off: bool) -> Summary:
    """The summary of a run with everything as in the original, less `quirk` where `off`."""
    accept = ",accept=1.2" if "accept=1.2" in quirk else ""
    experiment = Experiment(workload=f"blox:{jobs}", compat=f"blox:policy={policy}{accept}", window=window)
    prepared = experiment.prepare()
    if off:
        prepared.composition = WITHOUT[quirk](prepared.composition)
    return prepared.run().summary


def cell(summary: Summary, original: Summary) -> str:
    """What changed, in as few words as possible."""
    jct = summary["avg_jct_s"] / original["avg_jct_s"] - 1
    if jct:
        return f"{100 * jct:+.3g} %"
    responsiveness = summary["avg_responsiveness_s"] - original["avg_responsiveness_s"]
    if responsiveness:
        return f"same (responsiveness {responsiveness:+.0f} s)"
    preemptions = summary["preemptions"] - original["preemptions"]
    return f"same (preemptions {preemptions:+,})" if preemptions else "same"


def row(name: str, cells: list[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("jobs", nargs="?", default=str(SHARED / "goldens" / "blox" / "jobs_B_load8.csv"))
    parser.add_argument("--window", default="200-500")
    given = parser.parse_args()
    cases = [("", False), *((quirk, True) for quirk in WITHOUT), ("accept=1.2 overshoots", False)]
    with ProcessPoolExecutor() as pool:
        runs = {
            (*case, policy): pool.submit(run, policy, given.jobs, given.window, *case)
            for case in cases
            for policy in POLICIES
        }
        found = {key: each.result() for key, each in runs.items()}
    print(f"{Path(given.jobs).name}, window {given.window}, average JCT\n")
    print(row("quirk taken out", list(POLICIES)))
    print("|---|" + "---:|" * len(POLICIES))
    for quirk, off in cases:
        with_it = ("accept=1.2 overshoots", False) if "accept" in quirk else ("", False)
        if off:
            print(row(quirk, [cell(found[quirk, off, p], found[(*with_it, p)]) for p in POLICIES]))
        else:
            name = "(accept=1.2 as in the original)" if quirk else "(none: all as in the original)"
            print(row(name, [f"{found[quirk, off, p]['avg_jct_s'] / 3600:.2f} h" for p in POLICIES]))


if __name__ == "__main__":
    main()
