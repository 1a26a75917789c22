"""Numbers as people read them: seconds as s, min, h or d; shares in per cent; counts with separators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A unit of time and the seconds in it."""

    name: str
    seconds: float


SECOND, MINUTE, HOUR, DAY = Unit("s", 1.0), Unit("min", 60.0), Unit("h", 3600.0), Unit("d", 86400.0)

# Thresholds keep the leading figure between 2 and a few hundred; days only where hours have four digits.
_TABLE_UNITS = ((120.0, SECOND), (7200.0, MINUTE), (3.6e6, HOUR), (math.inf, DAY))
_AXIS_UNITS = ((300.0, SECOND), (3 * 3600.0, MINUTE), (5 * 86400.0, HOUR), (math.inf, DAY))

_LOG_TICKS = (
    (1.0, "1 s"),
    (10.0, "10 s"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3600.0, "1 h"),
    (6 * 3600.0, "6 h"),
    (86400.0, "1 d"),
    (864000.0, "10 d"),
    (8640000.0, "100 d"),
)
_FINE_LOG_TICKS = tuple(
    (count * unit.seconds, f"{count} {unit.name}")
    for unit, counts in (
        (SECOND, (1, 2, 5, 10, 20, 30)),
        (MINUTE, (1, 2, 5, 10, 20, 30)),
        (HOUR, (1, 2, 4, 8, 16)),
        (DAY, (1, 2, 4, 7, 14, 30, 60, 100)),
    )
    for count in counts
)


def column_unit(seconds: Sequence[float]) -> Unit:
    """The unit in which a column of durations reads best: that of its median positive value."""
    positive = sorted(value for value in seconds if math.isfinite(value) and value > 0)
    if not positive:
        return SECOND
    middle = positive[len(positive) // 2]
    return next(unit for limit, unit in _TABLE_UNITS if middle < limit)


def axis_unit(span_s: float) -> Unit:
    """The unit of a time axis that covers `span_s` seconds."""
    return next(unit for limit, unit in _AXIS_UNITS if not span_s >= limit)


def log_ticks(low_s: float, high_s: float) -> list[tuple[float, str]]:
    """Positions (seconds) and names of the ticks of a logarithmic time axis; finer where it is short."""
    short = low_s > 0 and high_s / low_s < 40
    return [tick for tick in (_FINE_LOG_TICKS if short else _LOG_TICKS) if low_s <= tick[0] <= high_s]


def number(value: float, decimals: int = 0) -> str:
    """A figure with thousands separators; an en dash where there is none."""
    return f"{value:,.{decimals}f}" if math.isfinite(value) else "–"


def counted(count: int, one: str, many: str) -> str:
    """A count with what it counts: `1 job runs`, `2 jobs run`."""
    return f"{count:,} {one if count == 1 else many}"


def decimals_for(values: Sequence[float]) -> int:
    """Decimals that leave a column about three significant figures."""
    finite = [abs(value) for value in values if math.isfinite(value)]
    largest = max(finite, default=0.0)
    smallest = min((value for value in finite if value > 0), default=0.0)
    return 2 if largest < 10 else 1 if largest < 1000 or smallest < 100 else 0


def duration(seconds: float) -> str:
    """One duration in words, for sentences: `4.2 h`."""
    if not math.isfinite(seconds):
        return "–"
    unit = column_unit([seconds])
    scaled = seconds / unit.seconds
    places = 0 if scaled == round(scaled) or scaled >= 100 else decimals_for([scaled])
    return f"{number(scaled, places)} {unit.name}"


def compact(value: float) -> str:
    """A count in at most six characters: `999`, `12,345`, `157k`, `3.2M`."""
    if not math.isfinite(value):
        return "–"
    if value < 1e5:
        return f"{value:,.0f}"
    return f"{value / 1e3:,.0f}k" if value < 1e6 else f"{value / 1e6:,.1f}M"
