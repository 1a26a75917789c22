"""Runs that are compared measure fairness between the same apps, whichever of them schedules by apps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blox import registry
from blox.experiment.settings import Experiment
from blox.optional import declared

_USUAL = "group"  # the column of a scheduler that says nothing


def same_apps(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The experiments with the one column by which a scheduler among them groups jobs, where `apps` is auto.

    Where two schedulers group by different columns, every run keeps its own: then no figure of apps is best.
    """
    own = {_app_column(each) for each in experiments if each.apps == "auto"} - {_USUAL}
    if len(own) != 1:
        return list(experiments)
    column = own.pop()
    return [replace(each, apps=column) if each.apps == "auto" else each for each in experiments]


def _app_column(experiment: Experiment) -> str:
    """The column by which the scheduler of an experiment groups jobs."""
    scheduler = experiment.scheduler
    if experiment.compat:
        return _USUAL
    if isinstance(scheduler, str):
        scheduler = registry.build("scheduling", scheduler)
    return str(declared(scheduler, "app_column"))
