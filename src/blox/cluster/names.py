"""The order in which nodes are listed: they join in any."""

from __future__ import annotations

import re


def by_number(name: str) -> list[tuple[int, str]]:
    """A key that sorts node-2 before node-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
