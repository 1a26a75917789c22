"""Why jobs waited, which jobs ran instead, and what a round decided: questions to a finished run."""

from __future__ import annotations

from blox.explain.explanation import Eviction, Explanation
from blox.explain.instead import RanInstead, ran_instead
from blox.explain.intervals import ARRIVAL, EVICTION, RUNNING, WORDS, Interval, totals_by_reason, totals_of
from blox.explain.places import places

__all__ = [
    "ARRIVAL",
    "EVICTION",
    "RUNNING",
    "WORDS",
    "Eviction",
    "Explanation",
    "Interval",
    "RanInstead",
    "places",
    "ran_instead",
    "totals_by_reason",
    "totals_of",
]
