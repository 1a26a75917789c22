from __future__ import annotations

from dataclasses import dataclass

from blox.reproduce.thresholds import Arrivals, Seeds, Thresholds


@dataclass(frozen=True)
class Figure13(Thresholds):
    """LAS behind admission thresholds while many jobs come in one hour of each day."""

    title = "Admission thresholds with LAS under spikes"
    claim = (
        "With LAS at 8 jobs/hour and 16 more in one hour of each day, admitting jobs up to 1.5x and 1.2x of "
        "the GPUs lowers the average JCT by 15.4 and 27.3 %: more than without spikes."
    )
    spike = 16
    paper = {"accept 1.5x": 0.154, "accept 1.2x": 0.273}
    probes = (Arrivals(spike), Seeds(spike, paper))


PAGE = Figure13()
