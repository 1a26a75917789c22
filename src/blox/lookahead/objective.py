"""Objective: what a combination of policies is chosen by.

One figure of the summary, a function of your own, or several joined with `+`. Several are weighed like this:
each figure is divided by the best value that any combination would give, so that 1 is the best there is and
1.2 is 20 % worse; the combination with the smallest mean wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from blox import registry
from blox.errors import BloxError, suggestion
from blox.results.own_metrics import metrics_from_spec
from blox.results.result import Result
from blox.workloads.table import Array

OF_JOBS = (  # less is better; the other figures of LOW and HIGH need more than the table of jobs
    *("avg_jct_s", "median_jct_s", "p95_jct_s", "p99_jct_s", "avg_responsiveness_s", "p95_responsiveness_s"),
    *("avg_queueing_s", "p95_waited_s", "p99_waited_s", "max_waited_s", "avg_slowdown", "p95_slowdown"),
    "deadlines_missed",
)
LOW = (
    *OF_JOBS,
    *("makespan_s", "preemptions", "moves", "interruptions", "fragmentation"),
    *("queue_length", "avg_rho", "max_rho", "gpu_hours"),
    *("wait_admission_s", "wait_priority_s", "wait_capacity_s", "wait_fragmentation_s"),
)
HIGH = ("utilisation", "rho_jain")
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


def objective_from(text: str) -> Objective:
    """The objective that a text names: `avg_jct`, `avg_jct+avg_responsiveness`, `./mine.py:function`."""
    names = [piece.strip() for piece in text.split("+")]
    if not all(names):
        raise BloxError(f"the objective is {text!r}", where="auto", fix="name a figure: objective=avg_jct")
    figures = tuple(map(_figure, names))
    if len({figure.name for figure in figures}) < len(figures):
        raise BloxError(f"a figure is named twice in {text!r}", where="objective", fix="name it once")
    return Objective(figures)


def _figure(text: str) -> Figure:
    name = next((each for each in (text, f"{text}_s") if each in LOW or each in HIGH), None)
    if name is not None:
        return Figure(
            name, name in HIGH, lambda result: _number(result.summary.get(name)), of_jobs=name in OF_JOBS
        )
    if ".py:" not in text:
        plain = text.partition(":")[0]
        if plain not in registry.names("metric"):
            raise BloxError(
                f"no figure is called {text!r}",
                where="objective",
                fix=f"{suggestion(text, (*LOW, *HIGH, *registry.names('metric')))}; or ./mine.py:function",
            )
    metric = metrics_from_spec(text)[0]
    return Figure(metric.key, metric.better == "high", lambda result: _number(metric.of(result)))


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
