"""Checks on the parameters of generators, in words."""

from __future__ import annotations

import math

import numpy as np

from blox.errors import BloxError


def above_zero(name: str, value: float, unit: str) -> None:
    """Raises BloxError unless the value is finite and above 0."""
    if not (math.isfinite(value) and value > 0):
        raise BloxError(f"{name} is {value!r}", fix=f"{name} must be a number above 0 ({unit})")


def zero_or_more(name: str, value: float, unit: str) -> None:
    """Raises BloxError unless the value is finite and not below 0."""
    if not (math.isfinite(value) and value >= 0):
        raise BloxError(f"{name} is {value!r}", fix=f"{name} must be a number, 0 or more ({unit})")


def whole(name: str, value: int | None, least: int) -> None:
    """Raises BloxError unless the value is None or a whole number of at least `least`."""
    if value is not None and (not isinstance(value, (int, np.integer)) or value < least):
        raise BloxError(f"{name} is {value!r}", fix=f"{name} must be a whole number, {least} or more")
