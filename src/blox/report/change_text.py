"""A change in seconds with its interval, as a text."""

from __future__ import annotations

import math

from blox.report import units
from blox.results.statistics import Interval


def signed(change: Interval | None) -> str:
    """`-2.1 h (-3.0 to -1.2)`; without bounds where these are nan, a dash where there is no change."""
    if change is None or not math.isfinite(change.estimate):
        return "–"
    bounds = [change.low, change.high] if math.isfinite(change.low) else []
    unit = units.column_unit([abs(value) for value in (change.estimate, *bounds)])
    values = [value / unit.seconds for value in (change.estimate, *bounds)]
    places = units.decimals_for(values)
    middle, *ends = (f"{value:+,.{places}f}".replace("-", "−") for value in values)
    return f"{middle} {unit.name}" + (f" ({ends[0]} to {ends[1]})" if ends else "")
