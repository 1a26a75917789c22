"""The libraries that solve programs and matchings: an extra of the package."""

from __future__ import annotations

from typing import Any

from blox.extras import from_extra


def solver(module: str) -> Any:
    """The module of that name."""
    return from_extra(module, "optimise", "this policy of gavel, an optimisation problem,")
