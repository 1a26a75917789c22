"""What `blox reproduce gavel` runs: the comparisons of the paper's evaluation, one policy against another."""

from __future__ import annotations

from dataclasses import dataclass, replace

from blox.experiment.settings import Experiment
from blox.reproduce.page import Case, Setting

SMALL, LARGE = "v100=3x4,p100=3x4,k80=3x4", "v100=9x4,p100=9x4,k80=9x4"
ROUND_S = 360.0
JCT, MAKESPAN, COST = "average JCT", "makespan", "cost"


@dataclass(frozen=True)
class Comparison:
    """A policy of Gavel's against another, by a measure that is to be low.

    `claimed` is by what factor ours is better as the authors' own results have it; nan where we know none.
    """

    name: str
    words: str
    measure: str
    policy: str
    against: str
    claimed: float = float("nan")
    spec: str = ""  # further options of both

    @property
    def lines(self) -> tuple[str, str]:
        return f"{self.name}, {self.against}", f"{self.name}, {self.policy}"


LAS, SEVERAL, FTF = "LAS, one GPU", "LAS, several GPUs", "finish-time fairness"
HIERARCHICAL = "hierarchical"
_FAIR, _COST = "max_min_fairness", "max_sum_throughput_normalized_by_cost_perf"
_AWARE = "aware / agnostic"
AWARE_LAS = Comparison(LAS, _AWARE, JCT, f"{_FAIR}_perf", _FAIR, 3.5)
MAKESPAN_GANDIVA = Comparison(
    "makespan", "aware / Gandiva", MAKESPAN, "min_total_duration_perf", "gandiva", 1.4
)
COMPARISONS = (
    AWARE_LAS,
    Comparison(LAS, "aware and sharing / agnostic", JCT, f"{_FAIR}_packed", _FAIR, 4.9),
    Comparison(SEVERAL, _AWARE, JCT, f"{_FAIR}_perf", _FAIR, 1.9),
    Comparison(FTF, _AWARE, JCT, "finish_time_fairness_perf", "finish_time_fairness", 1.9),
    MAKESPAN_GANDIVA,
    Comparison("makespan", "aware / FIFO", MAKESPAN, "min_total_duration_perf", "fifo", 2.5),
    Comparison("makespan", _AWARE, MAKESPAN, "min_total_duration_perf", "min_total_duration"),
    Comparison("cost", "by cost / by throughput", COST, _COST, "max_sum_throughput_perf"),
    Comparison("cost", "by cost with SLOs / by throughput", COST, f"{_COST}_SLOs", "max_sum_throughput_perf"),
    Comparison(
        HIERARCHICAL,
        _AWARE,
        JCT,
        f"{_FAIR}_water_filling_perf",
        f"{_FAIR}_water_filling",
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
    base = Experiment(
        cluster=LARGE if full else SMALL, performance="throughputs", round_s=ROUND_S, seed=setting.seed
    )
    if name == LAS:
        loads = (4.0, 5.2, 5.6) if full else (1.3, 1.9)
        window = "4000-4999" if full else "1200-1299"
        return [(load, replace(base, workload=_jobs(load), window=window)) for load in loads]
    jobs = 700 if full else 230
    if name == "makespan":  # all at once
        return [(0.0, replace(base, workload=f"{_jobs(1e6)},jobs={jobs},multi=true"))]
    if name == "cost":  # a load at which deadlines can be met
        load = 3.0 if full else 1.0
        return [(load, replace(base, workload=f"{_jobs(load)},jobs={jobs},slos=true"))]
    # At 2.6 the queue of the tenant with most jobs grows where types are not told apart, and a run over the
    # paper's window had not ended after nine minutes.
    load = 2.0 if full and name == HIERARCHICAL else 2.6
    window = "4000-4999" if full else "500-599"
    workload = f"{_jobs(load)},multi=true"
    return [(load, replace(base, cluster=LARGE, workload=workload, window=window))]


def _jobs(load: float) -> str:
    return f"gavel:load={load:.7g},job_types=true"
