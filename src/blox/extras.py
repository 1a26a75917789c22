"""Extras: packages that the core does without, imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any

from blox.errors import BloxError


def from_extra(module: str, extra: str, user: str) -> Any:
    """A module that an extra of blox installs. Raises BloxError where it is missing: `user` needs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        what = f"{user} needs {package}, which is not installed"
        raise BloxError(what, fix=f"pip install 'blox[{extra}]'") from None
