"""What figures 6 to 9 share: elastic jobs at several loads, schedulers as lines, JCT or responsiveness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blox.experiment.settings import Experiment
from blox.report.chart import Chart, Line
from blox.reproduce.curves import Curves
from blox.reproduce.figure import Case
from blox.results.result import Result

FIFO, TIRESIAS, OPTIMUS, POLLUX, LAS = "FIFO", "Tiresias", "Optimus", "Pollux", "LAS"
SCHEDULERS = {FIFO: "fifo", TIRESIAS: "tiresias", OPTIMUS: "optimus", POLLUX: "pollux", LAS: "las"}
BASE = Experiment(performance="goodput", placement="consolidated", overheads="launch=30,restart=30")
# Where hardly any job waits, the difference between two averages is of no account: seconds of responsiveness
# that a fraction of a round makes.
NEAR, ROUND_MIN = 0.05, 5.0


def cases(
    lines: Sequence[str], workload: str, loads: Sequence[float], seeds: range, **settings: str
) -> list[Case]:
    """A run per line, load and seed; `{load}` in the workload is the load."""
    found = []
    for line in lines:
        base = replace(BASE, scheduler=SCHEDULERS[line], **settings)  # type: ignore[arg-type]
        for load in loads:
            jobs = workload.format(load=f"{load:g}")
            found += [Case(line, load, replace(base, workload=jobs, seed=seed)) for seed in seeds]
    return found


def responsiveness_min(result: Result) -> float:
    """The average time from submission to the first start, in minutes; nan where no job started."""
    seconds = result.summary.get("avg_responsiveness_s")
    return float("nan") if seconds is None else float(seconds) / 60


def table(found: Curves, unit: str) -> tuple[list[str], list[list[str]]]:
    """(heads, rows): a row per load, a column per line."""
    lines = list(found)
    rows = [
        [f"{load:g}", *(f"{found[line][load]:,.2f}" for line in lines)] for load in next(iter(found.values()))
    ]
    return ["jobs/h", *(f"{line}, {unit}" for line in lines)], rows


def chart(found: Curves, y: str) -> Chart:
    """A curve per line, against the load."""
    curves = [Line(line, list(points), list(points.values())) for line, points in found.items()]
    return Chart("load (jobs per hour)", y, curves)


def mean(curve: dict[float, float] | object, loads: Sequence[float]) -> float:
    """The mean of a curve over some loads."""
    values = [curve[load] for load in loads]  # type: ignore[index]
    return sum(values) / len(values)
