from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from blox.report.charts import Chart
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.distribution import cdf
from blox.reproduce.page import Measurement, Setting, Unavailable
from blox.reproduce.real_runs import HOUR_S, Run, at_once, measured_run

FIFO, LAS = "FIFO", "LAS"
QUARTILES = (25, 50, 75)
PAPER = {"average": 6.1, 25: 1.7, 50: 5.8, 75: 2.2}  # per cent
AVERAGE, QUARTILE = 3.0, 2.0  # per cent that we allow ourselves


RUNS = {
    "quick": {
        FIFO: Run("fifo", 12, 12.0, 3.0, 450.0, 300.0, wide=2),
        LAS: Run("las", 12, 12.0, 3.0, 450.0, 1_800.0, wide=3),
    },
    "full": {
        FIFO: Run("fifo", 100, 4.0, 72.0, 800.0, 300.0, wide=0),
        LAS: Run("las", 100, 4.0, 12.0, 400.0, 3_600.0, wide=1),
    },
}


@dataclass(frozen=True)
class Figure18(Measurement):
    """The same jobs by the simulator, and by processes on a cluster."""

    title = "The simulator against a real run: completion times"
    claim = (
        "The simulator's job completion times are those of a real run: per job they differ by 6.1 % on "
        "average, the quartiles by 1.7, 5.8 and 2.2 %."
    )
    rule = (
        f"Holds if, for FIFO and for LAS, completion times differ by at most {AVERAGE:g} % per job on "
        f"average and by at most {QUARTILE:g} % in every quartile; in part if they differ by no more than "
        "the paper's (6.1 % and 5.8 %); otherwise it does not hold."
    )
    differences = (
        "8 nodes of 4 slots are worker managers of one machine instead of 8 p3.8xlarge; a job is one process "
        "per slot that holds it for as long as its entry says, in scaled time. It starts at once (blox "
        "replay --job sleep): in scaled time, importing libraries takes most of a round.",
        "Durations follow the distribution of Blox's own workloads (half an hour to a week; one GPU each), "
        "but the longest are cut. With --quick there are fewer jobs, which come faster, and some need "
        "several GPUs.",
        "LAS, where jobs are preempted, is not in the paper. Its jobs need up to 8 GPUs, so that they queue.",
    )

    def setup(self, setting: Setting) -> str:
        told = [
            f"{name}: {run.jobs} jobs at {run.load:g} an hour of at most {run.longest_h:g} h, rounds of "
            f"{run.round_s:g} s, {run.speedup:g} times as fast"
            for name, run in RUNS[setting.scale].items()
        ]
        return (
            f"First-free placement on 8 nodes x 4 slots. {'; '.join(told)}. Both run at the same time, each "
            "on a cluster of its own. The simulation is given the seconds that a launch and a restart took "
            "in the real run, on average."
        )

    def measure(self, setting: Setting) -> Mapping[str, Any]:
        try:
            import grpc  # noqa: F401
        except ImportError:
            raise Unavailable("gRPC: pip install 'blox[cluster]'") from None
        runs = RUNS[setting.scale]
        found = at_once([partial(measured_run, run, setting.seed) for run in runs.values()])
        return dict(zip(runs, found))

    def judged(self, measured: Mapping[str, Any]) -> Finding:
        found = {name: Difference.of(values) for name, values in measured.items()}
        heads = ("policy", "average per job", *(f"{q}th percentile" for q in QUARTILES), "launch", "restart")
        rows = [
            (
                name,
                f"{each.average:.1f} %",
                *(f"{each.quartiles[q]:+.1f} %" for q in QUARTILES),
                *(f"{measured[name][part]:.0f} s" for part in ("launch_s", "restart_s")),
            )
            for name, each in found.items()
        ]
        rows.append(("the paper, FIFO", *(f"{value:g} %" for value in PAPER.values()), "", ""))
        charts = tuple(
            Chart(
                "job completion time (h)",
                "share of jobs",
                (
                    cdf("real", np.array(values["real_s"]) / HOUR_S),
                    cdf("simulated", np.array(values["simulated_s"]) / HOUR_S),
                ),
                steps=True,
                log_x=True,
                title=name,
            )
            for name, values in measured.items()
        )
        notes = tuple(
            f"{name}: {values['preemptions']} preemptions in the real run, "
            f"{values['simulated_preemptions']} simulated; the real run took {values['wall_s']:.0f} s. "
            f"{_machine(values)}"
            for name, values in measured.items()
        )
        return Finding(Table(heads, tuple(rows)), charts, judge(found), notes)


@dataclass(frozen=True)
class Difference:
    """How far the simulation is off, in per cent of the real run: per job on average, and in quartiles."""

    average: float
    quartiles: Mapping[int, float]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Difference:
        real, simulated = np.array(values["real_s"]), np.array(values["simulated_s"])
        off = 100 * (np.percentile(simulated, QUARTILES) / np.percentile(real, QUARTILES) - 1)
        average = float(100 * np.mean(np.abs(simulated - real) / real))
        return cls(average, dict(zip(QUARTILES, off.tolist())))

    def within(self, average: float, quartile: float) -> bool:
        return self.average <= average and max(map(abs, self.quartiles.values())) <= quartile


def judge(found: Mapping[str, Difference]) -> Verdict:
    """The rule."""
    facts = "; ".join(
        f"{name} differs by {each.average:.1f} % per job, quartiles by at most "
        f"{max(map(abs, each.quartiles.values())):.1f} %"
        for name, each in found.items()
    )
    if all(each.within(AVERAGE, QUARTILE) for each in found.values()):
        return Verdict("holds", facts)
    in_part = all(each.within(PAPER["average"], PAPER[50]) for each in found.values())
    return Verdict("holds in part" if in_part else "does not hold", facts)


def _machine(values: Mapping[str, Any]) -> str:
    """What the machine has to do with the differences, in words."""
    speedup, uneven_s = values["speedup"], values["uneven_s"]
    share = 100 * uneven_s / np.median(values["real_s"])
    return (
        f"A first start took {values['launch_s'] / speedup:.2f} s of real time on average. The starts of a "
        f"job were {uneven_s / speedup:.2f} s off the average: {share:.1f} % of the median completion time. "
        f"{values['load']:.0f} processes wanted to run."
    )


PAGE = Figure18()
