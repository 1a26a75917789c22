"""The synthesizer of an experiment, from its setting `auto` and the policies that it names."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blox.composition import Composition
from blox.errors import BloxError
from blox.lookahead.ahead import Conditions, Policies
from blox.lookahead.auto import Auto
from blox.lookahead.beliefs import check_told, reads_durations
from blox.lookahead.objective import NEEDS
from blox.lookahead.outcome import Measured
from blox.lookahead.synthesizer import Combination, Synthesizer
from blox.optional import declared
from blox.state.cluster_spec import cluster_from_spec
from blox.termination.completed import Completed

if TYPE_CHECKING:
    from blox.clock import Clock
    from blox.experiment.settings import Experiment


_FIXES = {  # of an objective whose figure the experiment does not have
    "termination": "give a policy that ends jobs early: --termination loss:threshold=0.002",
    "prices": "give prices: --prices 2.5",
    "power": "give power: --power 300/60",
    "links": "give a cluster whose links are known: --cluster v100=8x8:links=p3.16xlarge",
}


def synthesizer(
    experiment: Experiment,
    parts: Composition,
    clock: Clock,
    admissions: Mapping[str, Any],
    schedulers: Mapping[str, Any],
    placements: Mapping[str, Any],
) -> Synthesizer:
    """One that chooses among all combinations; policies by name."""
    auto = Auto.of(experiment.auto)
    check_told(auto.belief, experiment.belief)
    kinds = (schedulers, admissions, placements)
    found = []
    for scheduler, admission, placement in itertools.product(*kinds):
        names = [
            name
            for name, kind in zip((scheduler, admission, placement), kinds)
            if len(kind) > 1 or kind is schedulers
        ]
        policies = Policies(admissions[admission], schedulers[scheduler], placements[placement])
        found.append(Combination(" + ".join(names), policies))
    reports = parts.reports if reads_durations(auto.belief) else None  # what is learnt knows no curves
    conditions = Conditions(
        parts.performance, parts.overheads, clock, parts.termination, experiment.round_s, reports
    )
    columns = {declared(part, "app_column") for part in schedulers.values()}
    apps = experiment.apps if experiment.apps != "auto" else columns.pop() if len(columns) == 1 else "group"
    made = Synthesizer(auto, tuple(found), conditions, Measured(apps, experiment.prices, experiment.power))
    _check_measured(made, experiment)
    return made


def _check_measured(made: Synthesizer, experiment: Experiment) -> None:
    """Refuses an objective of which no look ahead of this experiment could have a value."""
    lacks = {
        "termination": type(made.conditions.termination) is Completed,
        "prices": not experiment.prices,
        "power": not experiment.power,
        "links": not cluster_from_spec(experiment.cluster).links,
    }
    for name in made.objective.names:
        need = NEEDS.get(name)
        if need is not None and lacks[need]:
            raise BloxError(f"{name} has no value in this experiment", where="objective", fix=_FIXES[need])
        if need == "termination" and not reads_durations(made.auto.belief):
            raise BloxError(
                f"{name} is 0 ahead with belief={made.auto.belief}, which knows no loss curves",
                where="objective",
                fix="belief=told looks ahead with what policies are told",
            )
