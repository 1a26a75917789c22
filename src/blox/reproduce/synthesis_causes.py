"""Why figures 14, 15 and 21 come out otherwise than in the paper: one parameter changed at a time.

All with the jobs of the paper's public code: one GPU each, Gavel's durations, 5 % more work than the cluster
can do. They come until a set number of jobs has come, so that no job waits for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from blox.experiment.settings import Experiment
from blox.report.choices import Reigns
from blox.reproduce.answer import Cause, Table, Verdict
from blox.reproduce.curves import Spread, Spreads, spreads
from blox.reproduce.page import Case, Done, Setting
from blox.reproduce.synthesis import (
    ADMISSIONS,
    AUTO,
    BURSTY,
    PLAIN,
    SCHEDULERS,
    WORKLOADS,
    auto_cases,
    by_line,
    drawn,
    jct_h,
    reigns,
    rulers,
    short,
    switching,
)

SHOWN = {PLAIN: "plain", BURSTY: BURSTY}  # these jobs are not Philly's
LOOK_AGAIN, LOOK_AS_PAPER = "", "belief=oracle,arrivals=none"
STEPS = {  # each changes one thing more
    "jobs of the public code": (tuple(SCHEDULERS), LOOK_AGAIN),
    "and no job to come, true durations": (tuple(SCHEDULERS), LOOK_AS_PAPER),
    "and no SRTF to choose": (("FIFO", "LAS"), LOOK_AS_PAPER),
}


@dataclass(frozen=True)
class Durations:
    """Static schedulers while durations spread less and less at the same mean: where FIFO becomes best."""

    def cases(self, setting: Setting) -> list[Case]:
        factors = (1.0, 0.75, 0.5, 0.25, 0.0) if setting.full else (1.0, 0.25)
        first, last = 250, 500  # a quarter of the paper's cluster and load, at either scale
        found = []
        for name, options in WORKLOADS.items():
            times = 2 if name == BURSTY else 1  # as many jobs again come in bursts
            for factor in factors:
                run = Experiment(
                    workload=f"gavel:load=2,duration_spread={factor:g}{options},jobs={2 * times * last}",
                    cluster="8x4",
                    performance="duration",
                    window=f"{times * first}-{times * last}",
                )
                found += [
                    Case(f"{line}, {name}", factor, replace(run, scheduler=scheduler, seed=seed))
                    for line, scheduler in SCHEDULERS.items()
                    for seed in setting.seeds(quick=2, full=3)
                ]
        return found

    def cause(self, done: Sequence[Done]) -> Cause:
        found = spreads(done, jct_h)
        factors = sorted({each.case.x for each in done}, reverse=True)
        rows = tuple(
            (SHOWN[name], f"{factor:g}", *(found[f"{line}, {name}"][factor].text(1) for line in SCHEDULERS))
            for name in WORKLOADS
            for factor in factors
        )
        answer = (
            "FIFO is best where durations differ little. With one GPU a job and the durations of the public "
            "code, spread less and less at the same mean, the best of the three is "
            + "; ".join(
                f"on the {SHOWN[name]} workload {_winners(found, name, factors)}" for name in WORKLOADS
            )
            + ". Where all jobs are about equally long, an order by what is left or attained gains little, "
            "and the jobs that it puts last wait until no more come; bursts of short jobs bring the gain "
            "back."
        )
        heads = ("workload", "durations spread, times", *(f"{line}, h" for line in SCHEDULERS))
        return Cause("When is FIFO the best static scheduler, as in the paper?", answer, Table(heads, rows))


@dataclass(frozen=True)
class Steps:
    """The synthesizer, from our set-up to one in which FIFO comes back, step by step; one seed."""

    options: str
    workloads: tuple[str, ...]
    judge: Callable[[Mapping[str, Reigns]], Verdict]

    def cases(self, setting: Setting) -> list[Case]:
        load, cluster, jobs, window = (
            (2, "8x4", 800, "250-350") if setting.full else (1, "4x4", 300, "100-200")
        )
        seeds = setting.seeds(quick=1, full=1)
        own = [
            replace(case, x=float(x))
            for x, name in enumerate(self.workloads)
            for case in auto_cases(setting, WORKLOADS[name], options=self.options, seeds=seeds)
        ]
        found = []
        for line, (schedulers, look) in STEPS.items():
            lists = f"scheduler={','.join(SCHEDULERS[name] for name in schedulers)}"
            lists += f";admission={','.join(ADMISSIONS.values())}"
            # Choices without jobs to come are made at every interval: fewer of them in a hurry.
            options = ",".join(filter(None, (self.options, look, "" if setting.full else "every=40")))
            for x, name in enumerate(self.workloads):
                run = Experiment(
                    workload=f"gavel:load={load}{WORKLOADS[name]},jobs={jobs}",
                    cluster=cluster,
                    performance="duration",
                    window=window,
                    auto=f"{lists};{options}" if options else lists,
                )
                found += [Case(line, float(x), replace(run, seed=seed)) for seed in seeds]
        return [*own, *found]

    def cause(self, done: Sequence[Done]) -> Cause:
        chosen: dict[str, dict[str, Reigns]] = {}
        for x, name in enumerate(self.workloads):
            for line, runs in by_line(done, float(x)).items():
                found = reigns(runs[0])
                assert found is not None, "the synthesizer's runs make choices"
                chosen.setdefault("our set-up" if line == AUTO else line, {})[name] = found
        rows = tuple(
            (line, SHOWN[name], *(_share(each, scheduler) for scheduler in SCHEDULERS), *_course(each))
            for line, by_name in chosen.items()
            for name, each in by_name.items()
        )
        verdicts = "; ".join(f"{line}: {self.judge(by_name).word}" for line, by_name in chosen.items())
        shares = ", ".join(_share(by_name[PLAIN], "FIFO") for by_name in chosen.values())
        answer = (
            f"Changes, each besides those before, by this page's rule: {verdicts}. From the first change on "
            "runs are smaller (fewer jobs an hour on fewer GPUs, and a fixed number of jobs), since choices "
            f"without jobs to come are made often. On the {SHOWN[PLAIN]} workload FIFO rules for {shares} of "
            "the time. With jobs to come, an order that lets newcomers pass looks better; with none to come, "
            "it looks better to finish jobs one after the other, by FIFO, or by SRTF where that is among the "
            "policies to choose from."
        )
        heads = ("set-up", "workload", *SCHEDULERS, "changes a day", "first to take over", "last")
        charts = tuple(
            drawn(each, f"{list(chosen)[-1]}: {SHOWN[name]}")
            for name, each in chosen[list(STEPS)[-1]].items()
        )
        return Cause("What brings FIFO back?", answer, Table(heads, rows), charts)


def _winners(found: Spreads, name: str, factors: Sequence[float]) -> str:
    """`SRTF at 1, FIFO at 0.25`."""
    best = []
    for factor in factors:
        values: dict[str, Spread] = {line: found[f"{line}, {name}"][factor] for line in SCHEDULERS}
        best.append(f"{min(values, key=lambda line: values[line].mean)} at {factor:g}")
    return ", ".join(best)


def _share(found: Reigns, scheduler: str) -> str:
    """How long a scheduler ruled, behind any admission policy; empty where it was not to choose from."""
    places = [at for at, name in enumerate(found.name) if short(name).startswith(scheduler)]
    return f"{100 * sum(found.share(at) for at in places):.0f} %" if places else ""


def _course(found: Reigns) -> tuple[str, str, str]:
    """Changes a day, the scheduler that was the first to take over, and the last one."""
    order = [name.partition(",")[0] for name in rulers(found)]
    return f"{switching(found).changes_a_day:.1f}", order[min(1, len(order) - 1)], order[-1]
