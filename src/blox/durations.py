"""Durations as people write them: `30d`, `4h`, `90m`, `45s`, a plain number of seconds, or `never`.

A parameter of a part that is annotated `Seconds` is read this way from a spec: `random:mtbf=30d`.
"""

from __future__ import annotations

import math
import re
from typing import NewType

from blox.errors import BloxError

Seconds = NewType("Seconds", float)
NEVER = Seconds(math.inf)
AT_ONCE = Seconds(0.0)
HOUR = Seconds(3600.0)
DAY = Seconds(86400.0)

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_FORM = re.compile(r"\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*([smhd]?)\s*")


def parse_duration(text: str, *, where: str = "") -> Seconds:
    """The seconds that a text names, 0 or more; NEVER for `never`. Raises BloxError with the valid forms."""
    if text.strip() == "never":
        return NEVER
    match = _FORM.fullmatch(text)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else math.inf
    if not seconds < math.inf:
        raise BloxError(
            f"{text!r} is not a duration", where=where, fix="write 30d, 4h, 90m, 45s, or a number of seconds"
        )
    return Seconds(seconds)


def duration_text(seconds: float) -> str:
    """The shortest text that `parse_duration` reads as exactly these seconds: `36h`, `90m`, `0.5s`."""
    if seconds == NEVER:
        return "never"
    for unit in ("d", "h", "m"):
        count = seconds / _SECONDS[unit]
        if count and count == round(count) and count * _SECONDS[unit] == seconds:
            return f"{count:.0f}{unit}"
    return f"{seconds:.0f}s" if seconds == round(seconds) else f"{seconds!r}s"
