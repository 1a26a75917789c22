"""The synthesizer of an experiment, from its setting `auto` and the policies that it names."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blox.composition import Composition
from blox.lookahead.ahead import Conditions, Policies
from blox.lookahead.auto import Auto
from blox.lookahead.beliefs import check_told, reads_durations
from blox.lookahead.synthesizer import Combination, Synthesizer

if TYPE_CHECKING:
    from blox.clock import Clock
    from blox.experiment.settings import Experiment


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
    return Synthesizer(auto, tuple(found), conditions)
