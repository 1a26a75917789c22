"""Composition: the parts of a scheduler, built and ready, as an experiment or a preset puts them together."""

from __future__ import annotations

from dataclasses import dataclass, field

from blox.backends.simulation import PerformanceModel
from blox.options import SimulationOptions
from blox.performance.overheads import Overheads
from blox.protocols import AdmissionPolicy, PlacementPolicy, SchedulingPolicy, TerminationPolicy


@dataclass(frozen=True)
class Composition:
    """One object per part."""

    admission: AdmissionPolicy
    scheduler: SchedulingPolicy
    placement: PlacementPolicy
    termination: TerminationPolicy
    performance: PerformanceModel
    overheads: Overheads = field(default_factory=Overheads)
    options: SimulationOptions = field(default_factory=SimulationOptions)
