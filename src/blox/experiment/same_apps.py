"""Runs that are compared measure fairness between the same apps, whichever of them schedules by apps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blox import registry
from blox.experiment.settings import Experiment

_EACH_BY_ITSELF = "group"  # what `auto` means for a scheduler that knows no apps


def same_apps(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The experiments with the one grouping into apps that a scheduler among them has, where `apps` is auto.

    Where two schedulers group in different ways, every run keeps its own: then no figure of apps is best.
    """
    own = {_app_column(each) for each in experiments if each.apps == "auto"} - {""}
    if len(own) != 1 or own == {_EACH_BY_ITSELF}:
        return list(experiments)
    column = own.pop()
    return [replace(each, apps=column) if each.apps == "auto" else each for each in experiments]


def _app_column(experiment: Experiment) -> str:
    """The column by which the scheduler of an experiment groups jobs; "" where it does not."""
    scheduler = experiment.scheduler
    if experiment.compat:
        return ""
    if isinstance(scheduler, str):
        scheduler = registry.build("scheduling", scheduler)
    return str(getattr(scheduler, "app_column", ""))
