"""What figures 6 to 9 share: elastic jobs at several loads, schedulers as lines, JCT or responsiveness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from blox.experiment.settings import Experiment
from blox.report.charts import Chart
from blox.reproduce.curves import Spreads, drawn
from blox.reproduce.page import Case

FIFO, TIRESIAS, OPTIMUS, POLLUX, LAS = "FIFO", "Tiresias", "Optimus", "Pollux", "LAS"
SCHEDULERS = {FIFO: "fifo", TIRESIAS: "tiresias", OPTIMUS: "optimus", POLLUX: "pollux", LAS: "las"}
BASE = Experiment(performance="goodput", placement="consolidated", overheads="launch=30,restart=30")
# Where hardly any job waits, the difference between two averages is of no account: seconds of responsiveness
# that a fraction of a round makes.
NEAR, ROUND_MIN = 0.05, 5.0
WINDOW = "3000-4000"  # the paper's


def cases(
    lines: Sequence[str], workload: str, loads: Sequence[float], seeds: range, **settings: Any
) -> list[Case]:
    """A run per line, load and seed; `{load}` in the workload is the load."""
    found = []
    for line in lines:
        base = replace(BASE, scheduler=SCHEDULERS[line], **settings)
        for load in loads:
            jobs = workload.format(load=f"{load:g}")
            found += [Case(line, load, replace(base, workload=jobs, seed=seed)) for seed in seeds]
    return found


def chart(found: Spreads, y: str) -> Chart:
    """A curve per line, against the load."""
    return Chart("load (jobs per hour)", y, drawn(found))


def mean(curve: dict[float, float] | object, loads: Sequence[float]) -> float:
    """The mean of a curve over some loads."""
    values = [curve[load] for load in loads]  # type: ignore[index]
    return sum(values) / len(values)
