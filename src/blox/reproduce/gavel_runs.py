"""What `blox reproduce gavel` runs: the comparisons of the paper's evaluation, one policy against another."""

from __future__ import annotations

from dataclasses import dataclass, replace

from blox.experiment import Experiment
from blox.reproduce.figure import Case, Setting

SMALL, LARGE = "v100=3x4,p100=3x4,k80=3x4", "v100=9x4,p100=9x4,k80=9x4"
ROUND_S = 360.0
JCT, MAKESPAN, RHO, COST = "average JCT", "makespan", "average rho", "cost"


@dataclass(frozen=True)
class Comparison:
    """A policy of Gavel's (`ours`) against another, by a measure that is to be low.

    `claimed` is by what factor ours is better as the authors' own results have it; nan where we know none.
    """

    name: str
    measure: str
    policy: str
    against: str
    claimed: float = float("nan")
    spec: str = ""  # further options of both

    @property
    def lines(self) -> tuple[str, str]:
        return f"{self.name}, {self.against}", f"{self.name}, {self.policy}"


LAS = "LAS, one GPU"
COMPARISONS = (
    Comparison(LAS, JCT, "max_min_fairness_perf", "max_min_fairness", 3.5),
    Comparison(LAS, JCT, "max_min_fairness_packed", "max_min_fairness", 4.9),
    Comparison("LAS, several GPUs", JCT, "max_min_fairness_perf", "max_min_fairness", 1.9),
    Comparison("finish-time fairness", JCT, "finish_time_fairness_perf", "finish_time_fairness", 1.9),
    Comparison("finish-time fairness", RHO, "finish_time_fairness_perf", "finish_time_fairness", 1.8),
    Comparison("makespan", MAKESPAN, "min_total_duration_perf", "gandiva", 1.4),
    Comparison("makespan", MAKESPAN, "min_total_duration_perf", "fifo", 2.5),
    Comparison("makespan", MAKESPAN, "min_total_duration_perf", "min_total_duration"),
    Comparison("cost", COST, "max_sum_throughput_normalized_by_cost_perf", "max_sum_throughput_perf"),
    Comparison("cost", COST, "max_sum_throughput_normalized_by_cost_perf_SLOs", "max_sum_throughput_perf"),
    Comparison(
        "hierarchical",
        JCT,
        "max_min_fairness_water_filling_perf",
        "max_min_fairness_water_filling",
        spec=",entities=tenant",
    ),
)


def cases(setting: Setting) -> list[Case]:
    """A run for every policy of every comparison; the LAS ones at several loads."""
    found: dict[tuple[str, float], Case] = {}
    for each in COMPARISONS:
        for policy, line in zip((each.against, each.policy), each.lines):
            for load, experiment in _experiments(each.name, setting):
                scheduler = f"gavel:policy={policy}{each.spec}"
                found.setdefault((line, load), Case(line, load, replace(experiment, scheduler=scheduler)))
    return list(found.values())


def _experiments(name: str, setting: Setting) -> list[tuple[float, Experiment]]:
    """(jobs/hour, or 0 where all come at once; the experiment without its scheduler)."""
    full = setting.full
    base = Experiment(cluster=LARGE if full else SMALL, round_s=ROUND_S, seed=setting.seed)
    if name == LAS:
        loads = (4.0, 5.2, 5.6) if full else (1.3, 1.9)
        window = "4000-4999" if full else "1200-1299"
        return [(load, replace(base, workload=_jobs(load), window=window)) for load in loads]
    if name in ("makespan", "cost"):  # all at once
        jobs = 700 if full else 230
        more = "multi=true" if name == "makespan" else "slos=true"
        return [(0.0, replace(base, workload=f"gavel:load=1000000,jobs={jobs},job_types=true,{more}"))]
    load, window = 2.6, "4000-4999" if full else "500-599"
    workload = f"{_jobs(load)},multi=true"
    return [(load, replace(base, cluster=LARGE, workload=workload, window=window))]


def _jobs(load: float) -> str:
    return f"gavel:load={load:g},job_types=true"
