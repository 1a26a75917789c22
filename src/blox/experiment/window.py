"""The window of an experiment: which of its jobs are measured."""

from __future__ import annotations

import re

from blox.errors import BloxError


def parse_window(text: str) -> tuple[int, int] | None:
    """`3000-4000` as a pair; None for an empty text."""
    if not text:
        return None
    match = re.fullmatch(r"\s*([0-9]{1,12})\s*-\s*([0-9]{1,12})\s*", text)
    if match is not None and int(match[1]) > int(match[2]):
        raise BloxError(
            f"the window {text!r} runs backwards", where="window", fix=f"write {match[2]}-{match[1]}"
        )
    if match is None:
        raise BloxError(
            f"{text!r} is not a window",
            where="window",
            fix="write FIRST-LAST, e.g. 3000-4000 (both included, from 0)",
        )
    return int(match[1]), int(match[2])
