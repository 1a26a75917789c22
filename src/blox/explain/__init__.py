"""Why jobs waited, which jobs ran instead, and what a round decided: questions to a finished run."""

from __future__ import annotations

from blox.explain.explanation import Eviction, Explanation
from blox.explain.instead import RanInstead, ran_instead
from blox.explain.intervals import RUNNING, Interval, by_words, stretches, totals_by_reason, totals_of
from blox.explain.places import places
from blox.explain.story import story_of
from blox.recording.standing import Round, Standing
from blox.recording.wait_causes import ARRIVAL, EVICTION, WORDS

__all__ = [
    "ARRIVAL",
    "EVICTION",
    "RUNNING",
    "WORDS",
    "Eviction",
    "Explanation",
    "Interval",
    "RanInstead",
    "Round",
    "Standing",
    "by_words",
    "places",
    "ran_instead",
    "story_of",
    "stretches",
    "totals_by_reason",
    "totals_of",
]
