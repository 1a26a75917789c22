"""Objective: what a combination of policies is chosen by.

A figure of the summary, a function of your own, or several joined with `+`. Several are weighed like this:
each figure is divided by the best value that any combination would give, so that 1 is the best there is and
1.2 is 20 % worse; the combination with the smallest mean wins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from blox import registry
from blox.errors import BloxError, suggestion
from blox.results.flat import flat
from blox.results.own_metrics import OwnMetric, metrics_from_spec, own_metric
from blox.results.result import Result
from blox.workloads.table import Array

OF_JOBS = (  # less is better; the other figures of LOW and HIGH need more than the table of jobs
    *("avg_jct_s", "median_jct_s", "p95_jct_s", "p99_jct_s", "avg_responsiveness_s", "p95_responsiveness_s"),
    *("avg_queueing_s", "p95_waited_s", "p99_waited_s", "max_waited_s", "avg_slowdown", "p95_slowdown"),
    "deadlines_missed",
)
LOW = (
    *OF_JOBS,
    *("makespan_s", "end_s", "preemptions", "moves", "interruptions", "gpu_hours"),
    *("fragmentation", "queue_length", "fragmentation_whole_run", "queue_length_whole_run"),
    *("avg_rho", "max_rho", "avg_app_rho", "max_app_rho"),
    *("wait_admission_s", "wait_priority_s", "wait_capacity_s", "wait_fragmentation_s", "wait_arrival_s"),
    "wait_scheduler_s",
)
HIGH = ("utilisation", "utilisation_whole_run", "rho_jain", "app_rho_jain")
NEEDS = {  # figures of some runs: what the experiment must have for them
    **dict.fromkeys(("saved_gpu_hours", "saved_share", "ended_early"), "termination"),
    "cost_dollars": "prices",
    **dict.fromkeys(("energy_kwh", "idle_energy_kwh"), "power"),
    "avg_link_gbps": "links",
}
_SOME_LOW = ("cost_dollars", "energy_kwh", "idle_energy_kwh")
_WAITED = re.compile(r"waited_by_gpus\.[^.]+\.(avg|p95|p99|max)_s")
_EQUAL = "it is the same with every combination"
_NO_FAILURE = "nothing fails ahead"
REFUSED = {  # figures of a summary that tell nothing ahead
    **dict.fromkeys(("jobs", "submitted", "deadlines", "resizable_jobs", "linked_jobs"), _EQUAL),
    "finished": f"a look ahead goes on until all jobs are done: {_EQUAL}",
    **dict.fromkeys(("arrivals_begin_s", "arrivals_end_s"), _EQUAL),
    **dict.fromkeys(("node_failures", "node_drains", "job_failures", "gpu_availability"), _NO_FAILURE),
    **dict.fromkeys(("wait_eviction_s", "evicted_jobs", "evictions", "lost_gpu_seconds"), _NO_FAILURE),
    "effective_training_ratio": _NO_FAILURE,
    **dict.fromkeys(("choices", "changes_of_policy"), "it counts what the synthesizer itself does"),
}
_LEAST = 1e-9  # of the larger: below, two values are the same but for rounding


@dataclass(frozen=True)
class Figure:
    """One figure by its name in results; `high`: larger is better; `of_jobs`: of the table of jobs alone."""

    name: str
    high: bool
    of: Callable[[Result], float]
    of_jobs: bool = False


@dataclass(frozen=True)
class Objective:
    """The figures that count."""

    figures: tuple[Figure, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(figure.name for figure in self.figures)

    @property
    def of_jobs(self) -> bool:
        """Whether all of them are figures of the table of jobs alone."""
        return all(figure.of_jobs for figure in self.figures)

    def values(self, result: Result) -> tuple[float, ...]:
        """Each figure of a result; nan where it has none."""
        return tuple(figure.of(result) for figure in self.figures)

    def scores(self, values: Sequence[Sequence[float]]) -> Array:
        """One number per combination, from the values of each: the smallest is the best; inf: no value.

        Of one figure it is the ratio to the best value, of several the mean of their ratios.
        """
        table = np.array(values, dtype=np.float64).reshape(len(values), len(self.figures))
        ratios = [
            _ratios(-column if figure.high else column) for figure, column in zip(self.figures, table.T)
        ]
        return np.asarray(np.mean(ratios, axis=0))


def _ratios(costs: Array) -> Array:
    """How much worse each is than the best: 1 for the best, inf for one without a value.

    Costs below 0 (of figures of which more is better) and a best of 0 are taken relative to the largest.
    """
    known = np.isfinite(costs)
    if not known.any():
        return np.full(len(costs), math.inf)
    best, size = costs[known].min(), np.abs(costs[known]).max()
    unit = best if best > _LEAST * size else size
    ratio = 1.0 + (costs - best) / unit if unit else np.ones(len(costs))
    return np.where(known, ratio, math.inf)


def objective_from(given: str | Sequence[str | Callable[[Result], float]]) -> Objective:
    """The objective that a text names, or several texts and functions of a result.

    `avg_jct`, `avg_jct+avg_responsiveness`, `./mine.py:function`, `("avg_jct", lambda result: ...)`.
    """
    names = [piece.strip() for piece in given.split("+")] if isinstance(given, str) else list(given)
    if not names or not all(names):
        raise BloxError(
            f"the objective is {given!r}", where="objective", fix="name a figure: objective=avg_jct"
        )
    figures = tuple(map(_figure, names))
    if len({figure.name for figure in figures}) < len(figures):
        raise BloxError(f"a figure is named twice in {given!r}", where="objective", fix="name it once")
    return Objective(figures)


def _figure(given: str | Callable[[Result], float]) -> Figure:
    if not isinstance(given, str):
        return _of_metric(own_metric(given))
    name = next((each for each in (given, f"{given}_s") if _is_named(each)), None)
    if name is not None:
        high = name in HIGH or (name in NEEDS and name not in _SOME_LOW)
        return Figure(name, high, lambda result: _value(result, name), of_jobs=name in OF_JOBS)
    if ".py:" not in given and given.partition(":")[0] not in registry.names("metric"):
        raise _no_figure(given)
    return _of_metric(metrics_from_spec(given)[0])


def _of_metric(metric: OwnMetric) -> Figure:
    return Figure(metric.key, metric.better == "high", lambda result: _number(metric.of(result)))


def _is_named(name: str) -> bool:
    return name in LOW or name in HIGH or name in NEEDS or _WAITED.fullmatch(name) is not None


def _value(result: Result, name: str) -> float:
    summary = flat(result.summary) if "." in name else result.summary
    return _number(summary.get(name, 0.0 if name == "wait_scheduler_s" else None))  # no job waited for it


def _no_figure(name: str) -> BloxError:
    """What is wrong with a name that is no objective; a figure of the summary is told why it is none."""
    known = (*LOW, *HIGH, *NEEDS, *registry.names("metric"))
    refused = next((each for each in (name, f"{name}_s") if each in REFUSED), None)
    if refused is not None:
        return BloxError(
            f"{refused} cannot be an objective: {REFUSED[refused]}",
            where="objective",
            fix=f"these can: {', '.join(known)}, waited_by_gpus.8.p95_s; or ./mine.py:function",
        )
    return BloxError(
        f"no figure is called {name!r}",
        where="objective",
        fix=f"{suggestion(name, known)}; or ./mine.py:function",
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
