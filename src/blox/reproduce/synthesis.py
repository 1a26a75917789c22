"""What figures 14, 15, 20 and 21 run: nine static combinations of policies, and the synthesizer among them.

22 nodes of 4 GPUs stand to our jobs at 8 an hour as the paper's 32 to its own: 6 % more work comes than they
can do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import NamedTuple

from blox.experiment.settings import Experiment
from blox.report.charts import Spans
from blox.report.choices import Reigns
from blox.reproduce.curves import average_jct_h
from blox.reproduce.page import Case, Done, Setting
from blox.results.result import Result

SCHEDULERS = {"FIFO": "fifo", "SRTF": "srtf", "LAS": "las"}
ADMISSIONS = {"all": "accept-all", "1.2x": "threshold:factor=1.2", "1.4x": "threshold:factor=1.4"}
STATIC = {
    f"{order}, accept {limit}": (scheduler, admission)
    for (order, scheduler), (limit, admission) in product(SCHEDULERS.items(), ADMISSIONS.items())
}
AUTO = "synthesizer"
HOUR_S, A_DAY_S = 3600.0, 86400.0
LEAST_SHARE = 0.05  # of the time: less is no reign
BySeed = Mapping[str, Sequence[float]]  # line -> average JCT with each seed, in hours
LISTS = f"scheduler={','.join(SCHEDULERS.values())};admission={','.join(ADMISSIONS.values())}"
PLAIN, BURSTY = "Philly-like", "bursty"
WORKLOADS = {PLAIN: "", BURSTY: ",burst_factor=2"}  # options of the workload
BOTH = "objective=avg_jct+avg_responsiveness"
DIFFERENCES = (
    "Jobs have the sizes (up to 16 GPUs) and durations of Philly's published trace, on 22 nodes of 4 GPUs, "
    "which they crowd as much as the paper's one-GPU jobs crowd 32. Quick runs are a quarter of that.",
    "Looking ahead, the synthesizer believes durations that it learns from finished jobs, and lets the jobs "
    "of the last week (or of the past, while that is shorter) come again; the paper's lets nothing come, and "
    "knows durations. Both look until all jobs are done.",
    "A choice stands for a tenth of the time for which jobs come ahead, 16.8 hours once the past is a week "
    "long, and for at least 10 rounds; the paper's for 10 rounds.",
    "A measured job that has not finished when its run ends counts with the time from the last submission of "
    "a measured job until then: it has taken longer.",
    "GPUs are counted, and a job runs at the speed of its duration wherever it is (the paper does not say).",
)
UNFINISHED = "count with the time until their run ended"


def jct_h(result: Result) -> float:
    """The average JCT of the measured jobs, in hours; at least so much where some have not finished."""
    summary = result.summary
    jobs, missing = summary["jobs"], summary["jobs"] - summary["finished"]
    least = (summary["end_s"] - summary["arrivals_end_s"]) / HOUR_S
    found = average_jct_h(result)
    return (found * (jobs - missing) + least * missing) / jobs if 0 < missing < jobs else found


def window(setting: Setting) -> str:
    """The paper's; a sooner one in a hurry."""
    return "3000-4000" if setting.full else "250-350"


def crowd(setting: Setting) -> tuple[int, str]:
    """Jobs an hour and the cluster: a quarter of both in a hurry."""
    return (8, "22x4") if setting.full else (2, "11x2")


def shown(setting: Setting) -> str:
    """The same in words."""
    load, cluster = crowd(setting)
    nodes, gpus = cluster.split("x")
    return f"{load} jobs an hour as in the Philly trace on {nodes} nodes of {gpus} GPUs"


def base(setting: Setting, options: str) -> Experiment:
    """Everything but the policies; `options` are those of the workload."""
    load, cluster = crowd(setting)
    return Experiment(
        workload=f"philly:load={load},max_gpus=16{options}",
        cluster=cluster,
        performance="duration",
        window=window(setting),
    )


def static_cases(setting: Setting, workload: str, x: float = 0.0, seeds: range | None = None) -> list[Case]:
    """A run for each static combination."""
    run = base(setting, workload)
    return [
        Case(line, x, replace(run, scheduler=scheduler, admission=admission, seed=seed))
        for line, (scheduler, admission) in STATIC.items()
        for seed in seeds or seeds_of(setting)
    ]


def auto_cases(
    setting: Setting,
    workload: str,
    x: float = 0.0,
    options: str = "",
    line: str = AUTO,
    seeds: range | None = None,
) -> list[Case]:
    """The synthesizer among these combinations; `options` are added to its lists."""
    auto = f"{LISTS};{options}" if options else LISTS
    run = replace(base(setting, workload), auto=auto)
    return [Case(line, x, replace(run, seed=seed)) for seed in seeds or seeds_of(setting)]


def both_workloads(setting: Setting) -> list[Case]:
    """All static combinations and the synthesizer, on either workload."""
    return [
        case
        for x, workload in enumerate(WORKLOADS.values())
        for case in (*static_cases(setting, workload, x), *auto_cases(setting, workload, x))
    ]


def seeds_of(setting: Setting) -> range:
    """Runs that choose are expensive."""
    return setting.seeds(quick=1, full=3)


class Switching(NamedTuple):
    """How many combinations ruled at least a twentieth of the time, and how often that changed a day."""

    rulers: int
    changes_a_day: float


def switching(found: Reigns) -> Switching:
    """What a run's choices come to."""
    shares = [found.share(at) for at in range(len(found.name))]
    changes = int((found.ruling[1:] != found.ruling[:-1]).sum())
    span = max(found.end_s - float(found.time_s[0]), 1.0)
    return Switching(sum(share >= LEAST_SHARE for share in shares), changes * A_DAY_S / span)


def rulers(found: Reigns) -> list[str]:
    """The combinations in the order in which they ruled, from that on with which the run begins."""
    order = [short(found.name[0])]
    for at in found.ruling.tolist():
        if order[-1] != short(found.name[at]):
            order.append(short(found.name[at]))
    return order


def reigns(done: Done) -> Reigns | None:
    """Which combination ruled when; None where nothing was chosen."""
    return Reigns.of(done.whole())


def drawn(found: Reigns, title: str) -> Spans:
    """Every combination in a row of its own, so that pictures have the same rows; a colour per scheduler."""
    rows = tuple(short(name) for name in found.name)
    schedulers = list(dict.fromkeys(row.partition(",")[0] for row in rows))
    return Spans(
        rows,
        tuple(tuple(found.bars(at)) for at in range(len(rows))),
        found.end_s,
        title=title,
        kinds=tuple(schedulers.index(row.partition(",")[0]) for row in rows),
    )


def short(combination: str) -> str:
    """`fifo + threshold:factor=1.2` as `FIFO, accept 1.2x`."""
    for name, policies in STATIC.items():
        if set(combination.split(" + ")) == set(policies):
            return name
    return combination


def best(values: Mapping[str, float]) -> str:
    """The static combination with the lowest value; the first of equals."""
    return min(STATIC, key=lambda name: values[name])


def by_line(done: Sequence[Done], x: float) -> dict[str, list[Done]]:
    """The runs at one place, by line."""
    found: dict[str, list[Done]] = {}
    for each in done:
        if each.case.x == x:
            found.setdefault(each.case.line, []).append(each)
    return found


@dataclass(frozen=True)
class Apart:
    """How far the synthesizer is above static combinations, as shares: 0.05 is 5 %.

    `best` is the static combination with the lowest mean over the seeds, `off` the synthesizer's mean above
    its mean, `by_seed` the same with each seed. `hindsight`: above the combination that is best with that
    seed alone, which may be another one each time.
    """

    best: str
    off: float
    by_seed: tuple[float, ...]
    hindsight: tuple[float, ...]

    @classmethod
    def of(cls, jct_h: BySeed) -> Apart:
        one = best({line: fmean(values) for line, values in jct_h.items()})
        lowest = [min(each) for each in zip(*(jct_h[line] for line in STATIC))]
        return cls(
            one,
            fmean(jct_h[AUTO]) / fmean(jct_h[one]) - 1,
            tuple(own / static - 1 for own, static in zip(jct_h[AUTO], jct_h[one])),
            tuple(own / static - 1 for own, static in zip(jct_h[AUTO], lowest)),
        )


def by_seed(done: Sequence[Done], x: float, measure: Callable[[Done], float]) -> BySeed:
    """A measure of the runs at one place, by line; seeds in the same order for every line."""
    return {
        line: [measure(each) for each in sorted(runs, key=lambda each: each.seed)]
        for line, runs in by_line(done, x).items()
    }


def percent(shares: Sequence[float]) -> str:
    """`+0.3, +7.7 %`."""
    return ", ".join(f"{100 * each:+.1f}" for each in shares) + " %"
