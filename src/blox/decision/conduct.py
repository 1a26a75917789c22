"""Runs a study: the log and its resamples under every scheduler, then what the best one depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from blox.decision.evidence import Evidence, Figures
from blox.decision.smaller import smaller_clusters
from blox.decision.study import Study
from blox.errors import BloxError
from blox.experiment.history import is_logged
from blox.experiment.parallel import Outcome, Task
from blox.experiment.settings import Experiment
from blox.results.calibration import READ, Closeness, calibration
from blox.results.result import Result
from blox.state.cluster_spec import cluster_from_spec

REALLY = ("", -1)  # the run of what really happened
Runner = Callable[[Sequence[Task], Sequence[str]], list[Outcome]]


def conduct(study: Study, run: Runner, folder: Path) -> Evidence:
    """The evidence of a study; `folder` is for the files of smaller clusters."""
    study.check()
    found = _compared(study, run)
    return _explored(found, run, folder)


def _compared(study: Study, run: Runner) -> Evidence:
    """Every scheduler on the log and on every resample, and what really happened."""
    runs: dict[tuple[str, int], Experiment] = {}
    for scheduler in study.schedulers:  # the longest first would be better still, and is not known
        runs[scheduler, -1] = study.on_log(scheduler)
        for number in range(study.resamples):
            runs[scheduler, number] = study.resampled(scheduler, number)
    beside = [(study.present, -1)]
    if is_logged(study.history):
        runs[REALLY] = study.happened()
        beside.append(REALLY)
    names = [_name(scheduler, number) for scheduler, number in runs]
    tasks = [study.task(each, READ if which in beside else ()) for which, each in runs.items()]
    by_run = dict(zip(runs, _results(run(tasks, names))))
    return Evidence(
        study,
        {each: _figures(by_run[each, -1]) for each in study.schedulers},
        {
            each: [_figures(by_run[each, number]) for number in range(study.resamples)]
            for each in study.schedulers
        },
        {each: by_run[each, -1].summary for each in study.schedulers},
        *(_calibrated(by_run[study.present, -1], by_run[REALLY]) if REALLY in by_run else ()),
    )


def _explored(found: Evidence, run: Runner, folder: Path) -> Evidence:
    """What the best and the present scheduler depend on, and how few GPUs the best one could do with."""
    study, best = found.study, found.best
    assumed = {
        (scheduler, words): experiment
        for scheduler in (study.present, best)
        for words, experiment in study.sensitivities(scheduler).items()
    }
    spec = cluster_from_spec(study.cluster)
    clusters = smaller_clusters(spec, study.table, folder)
    experiments = [
        *assumed.values(),
        *(replace(study.on_log(best), cluster=path) for path in clusters.values()),
    ]
    names = [*(f"{scheduler}, if {words}" for scheduler, words in assumed)]
    names += [f"{best} on {gpus} GPUs" for gpus in clusters]
    outcomes = run([study.task(each) for each in experiments], names) if experiments else []
    told: dict[str, dict[str, Figures | BloxError]] = {study.present: {}, best: {}}
    for (scheduler, words), outcome in zip(assumed, outcomes):
        told[scheduler][words] = _figures_or_fault(outcome)
    smaller = {}
    for gpus, outcome in zip(clusters, outcomes[len(assumed) :]):
        figures = _figures_or_fault(outcome)
        if not isinstance(figures, BloxError):
            smaller[gpus] = figures
    if smaller:
        smaller[spec.total_gpus] = found.on_log[best]
    return replace(found, assumed=told, smaller=smaller)


def _calibrated(present: Result, happened: Result) -> tuple[list[Closeness], int]:
    """How close the simulated present scheduler comes, and how many starts of the log found too few GPUs."""
    simulated, real = (replace(each, jobs=each.summary["jobs"]) for each in (present, happened))
    return calibration(simulated, real), int(happened.summary.get("late_starts", 0))


def _figures_or_fault(outcome: Outcome) -> Figures | BloxError:
    """The figures of a run that may fail: with other assumptions jobs may never make any progress."""
    if outcome.result is None:
        return outcome.error or BloxError("the run failed")
    return _figures(outcome.result)


def _results(outcomes: Sequence[Outcome]) -> list[Result]:
    """The results of runs that all have to succeed."""
    for outcome in outcomes:
        if outcome.result is None:
            raise outcome.error or BloxError("a run failed")
    return [outcome.result for outcome in outcomes if outcome.result is not None]


def _figures(result: Result) -> Figures:
    found: Figures = result.summary["figures"]
    return found


def _name(scheduler: str, number: int) -> str:
    if not scheduler:
        return "what really happened"
    return f"{scheduler} on {'the log' if number < 0 else f'resample {number + 1}'}"
