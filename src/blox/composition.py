"""Composition: the parts of a scheduler, built and ready, as an experiment or a preset puts them together."""

from __future__ import annotations

from dataclasses import dataclass, field

from blox.clock import Clock
from blox.job_reports.reporting import JobReports
from blox.manager import BloxManager
from blox.options import SimulationOptions
from blox.performance.overheads import Overheads
from blox.performance.rates import PerformanceModel
from blox.protocols import AdmissionPolicy, PlacementPolicy, SchedulingPolicy, TerminationPolicy


@dataclass(frozen=True)
class Composition:
    """One object per part. Presets with a time or an end of their own set `clock` and `manager`.

    `cluster` is the one that a preset insists on, `default_cluster` that for experiments which name none.
    `replaces` names the figures and columns of jobs that the policies of a preset measure as the other system
    does, in place of ours.
    """

    admission: AdmissionPolicy
    scheduler: SchedulingPolicy
    placement: PlacementPolicy
    termination: TerminationPolicy
    performance: PerformanceModel
    reports: JobReports | None = None
    overheads: Overheads = field(default_factory=Overheads)
    options: SimulationOptions = field(default_factory=SimulationOptions)
    clock: Clock | None = None
    manager: type[BloxManager] = BloxManager
    cluster: str = ""
    default_cluster: str = ""
    replaces: tuple[str, ...] = ()
