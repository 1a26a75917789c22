"""Metrics of one's own: functions of a finished run whose values stand among its figures.

A metric is a function that takes a `Result` and returns a number. The jobs that it sees are those that count:
of the window, and of one group where figures are broken down. Its keyword-only arguments are its parameters.
"""

from __future__ import annotations

import functools
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from blox import registry
from blox.containment import by_signal
from blox.errors import BloxError
from blox.foreign import user_fault, watched

if TYPE_CHECKING:
    from blox.results.result import Result

_APART = re.compile(r",(?!\s*[A-Za-z_][\w.-]*=)")  # a comma before `key=` belongs to the spec


@dataclass(frozen=True)
class OwnMetric:
    """A metric as it was asked for. `key` is its name in the summary; `better`: low, high or "" (unknown)."""

    key: str
    unit: str  # seconds, share, count or "": a plain number
    better: str
    measure: Callable[[Result], Any]

    def __str__(self) -> str:
        """How results remember it: `key|unit|better`."""
        return f"{self.key}|{self.unit}|{self.better}"

    def of(self, result: Result) -> float | None:
        """Its value for the jobs of a result; None where it has none. Raises BloxError with the place."""
        try:
            with warnings.catch_warnings():  # a mean over no jobs is nan, and told as no value
                warnings.simplefilter("ignore", RuntimeWarning)
                value = self.measure(result)
            number = math.nan if value is None else float(value)
        except BloxError:
            raise
        except BaseException as error:  # sys.exit() in a metric must not lose the run
            if by_signal(error):
                raise
            fault = user_fault(error)
            words = f"{type(error).__name__}: {error}"
            raise fault or BloxError(words, where=f"metric {self.key}", fix="return a number") from None
        return number if math.isfinite(number) else None


def metrics_from_spec(text: str) -> list[OwnMetric]:
    """The metrics that a setting names: specs joined with commas, such as `evenness,./mine.py:tail`."""
    found: list[OwnMetric] = []
    for spec in filter(None, (piece.strip() for piece in _APART.split(text))):
        metric = own_metric(registry.build("metric", spec), spec)
        if metric.key in [each.key for each in found]:
            raise BloxError(f"{metric.key!r} is given twice", where="metrics", fix="give it once")
        found.append(metric)
    return found


def own_metric(measure: Any, spec: str = "") -> OwnMetric:
    """A function of a result as a metric; `spec`: by which it was named, empty for one of a program."""
    if not callable(measure):
        raise BloxError(
            "a metric is a function of the result",
            where=f"metric {spec or measure!r}",
            fix="def mine(result): ...",
        )
    part = measure.func if isinstance(measure, functools.partial) else measure
    marks = vars(part if isinstance(part, FunctionType) else type(part))  # by registration
    key = _key(part, marks, spec)
    function = watched(measure, key)
    return OwnMetric(key, _unit(marks, key), str(marks.get("blox_better", "")), function)


def remembered(experiment: Mapping[str, Any]) -> list[OwnMetric]:
    """The metrics among the figures of a result, as its experiment remembers them: without the functions."""
    told = experiment.get("provenance", {}).get("metrics", ())
    parts = [str(text).rsplit("|", 2) for text in told]
    return [OwnMetric(key, unit, better, _forgotten) for key, unit, better in parts]


def with_metrics(result: Result, metrics: Sequence[OwnMetric]) -> Result:
    """The result with the values of metrics among its figures.

    One that fails has no value, and its words go to the experiment's provenance: a run that took hours is
    not lost over it.
    """
    if not metrics:
        return result
    known = {metric.key: str(metric) for metric in remembered(result.experiment)}
    summary, faults, counted = dict(result.summary), [], result.counted()
    for metric in metrics:
        if metric.key in summary and metric.key not in known:
            faults.append(f"{metric.key}: a figure of every run has that name; rename yours")
            continue
        try:
            summary[metric.key] = metric.of(counted)
        except BloxError as error:
            summary[metric.key] = None
            faults.append(f"{metric.key}: {error.where}: {error.what}")
        known[metric.key] = str(metric)
    told = {**result.experiment.get("provenance", {}), "metrics": list(known.values())}
    if faults:
        told["metric_faults"] = faults
    return replace(result, summary=summary, experiment={**result.experiment, "provenance": told})


def _key(part: Any, marks: Mapping[str, Any], spec: str) -> str:
    """A metric's name in the summary: `tail` of `./mine.py:tail`, with its options where it has some."""
    called = part.__name__ if isinstance(part, FunctionType) else type(part).__name__
    name = str(marks.get("blox_name") or called.replace("<lambda>", "function"))
    options = spec.partition(".py:")[2] or spec
    _, _, options = options.partition(":")
    return f"{name}:{options}" if options else name


def _unit(marks: Mapping[str, Any], key: str) -> str:
    """As registered; otherwise the name tells: `wait_s` is in seconds, `late_share` a share of 1."""
    if unit := marks.get("blox_unit"):
        return str(unit)
    name = key.partition(":")[0]
    return "seconds" if name.endswith("_s") else "share" if name.endswith("_share") else ""


def _forgotten(result: Result) -> None:
    """Stands for the function of a metric that was worked out earlier."""
