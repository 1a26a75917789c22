"""The libraries that solve programs and matchings: an extra of the package, imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any

from blox.errors import BloxError


def solver(module: str) -> Any:
    """The module of that name; where it is not installed, it is said how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise BloxError(
            f"this policy is an optimisation problem: it needs {module.partition('.')[0]}, not installed",
            where="gavel",
            fix="pip install 'blox[optimise]'",
        ) from None
