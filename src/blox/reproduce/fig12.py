from __future__ import annotations

from dataclasses import dataclass

from blox.reproduce.thresholds import Arrivals, Seeds, Thresholds


@dataclass(frozen=True)
class Figure12(Thresholds):
    """LAS behind admission thresholds at a steady load."""

    title = "Admission thresholds with LAS"
    claim = (
        "With LAS at 8 jobs/hour, admitting jobs up to 1.5x, 1.2x and 1.0x of the GPUs lowers the average "
        "JCT by 5, 15 and 30 %, and worsens responsiveness."
    )
    spike = 0
    paper = {"accept 1.5x": 0.05, "accept 1.2x": 0.15, "accept 1.0x": 0.30}
    probes = (Arrivals(spike), Seeds(spike, paper))


PAGE = Figure12()
