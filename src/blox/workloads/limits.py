"""Checks on the parameters of generators, in words."""

from __future__ import annotations

import numpy as np

from blox.errors import BloxError

LARGEST = 10**15
MOST_JOBS = 10_000_000  # of a generator or a file: more take gigabytes and days
MOST_AT_ONCE = 1_000_000  # jobs of one spike or burst, which are drawn together
LEAST, MOST = 1e-6, 1e12  # beyond these a parameter is a slip of the pen, and sums of times lose their sense


def above_zero(name: str, value: float, unit: str) -> None:
    """Raises BloxError unless the value is above 0, and neither so small nor so large as to be a slip."""
    if not LEAST <= value <= MOST:
        words = f"{name} must be a number above 0 ({unit}), {LEAST:g} to {MOST:g}"
        raise BloxError(f"{name} is {value!r}", fix=words)


def zero_or_more(name: str, value: float, unit: str) -> None:
    """Raises BloxError unless the value is 0 or more, and not so large as to be a slip."""
    if not 0 <= value <= MOST:
        words = f"{name} must be a number, 0 or more ({unit}), at most {MOST:g}"
        raise BloxError(f"{name} is {value!r}", fix=words)


def whole(name: str, value: int | None, least: int, most: int = LARGEST) -> None:
    """Raises BloxError unless the value is None or a whole number from `least` to `most`."""
    if value is not None and (not isinstance(value, (int, np.integer)) or not least <= value <= most):
        words = f"{name} must be a whole number, {least} or more, and at most {most:,}"
        raise BloxError(f"{name} is {value!r}", fix=words)
