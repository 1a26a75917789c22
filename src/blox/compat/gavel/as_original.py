"""Gavel's policies with everything that the original does, its solver's choice among optima included."""

from __future__ import annotations

from blox.compat.gavel.chosen import ChosenDuration, ChosenFinishTime, ChosenMaxMin
from blox.compat.gavel.chosen_packed import PackedDuration, PackedFinishTime, PackedMaxMin
from blox.schedulers.gavel.policies.by_name import Policy, original


def as_the_original(name: str, seed: int) -> Policy:
    """The policy of that name; `seed` for those that draw."""
    found, name = original(name, seed=seed), name.replace("-", "_")
    chosen: dict[str, Policy] = {
        "max_min_fairness": ChosenMaxMin(False, found),
        "max_min_fairness_perf": ChosenMaxMin(True, found),
        "max_min_fairness_packed": PackedMaxMin(found),
        "min_total_duration": ChosenDuration(False, found),
        "min_total_duration_perf": ChosenDuration(True, found),
        "min_total_duration_packed": PackedDuration(found),
        "finish_time_fairness": ChosenFinishTime(False),
        "finish_time_fairness_perf": ChosenFinishTime(True),
        "finish_time_fairness_packed": PackedFinishTime(found),
    }
    return chosen.get(name, found)
