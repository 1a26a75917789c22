"""Figures without tables among them: what CSV files and tables of many runs can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The same values, those of inner tables under joined names: `waited_by_gpus.8.p95_s`."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        found.update(flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value})
    return found
