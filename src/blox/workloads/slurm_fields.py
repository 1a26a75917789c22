"""How Slurm writes things: trackable resources (TRES), times, durations, memory, lists of hosts.

What `sacct` and `sinfo` print is read by these, for traces and for clusters. Each raises ValueError for a
text that Slurm does not write.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

UNKNOWN = frozenset({"", "unknown", "none", "n/a", "null", "(null)"})  # words for a time that is not there
NO_LIMIT = frozenset({"unlimited", "infinite", "partition_limit"})
_DIGITS = re.compile(r"[0-9]{1,9}")
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([KMGTP]?)", re.IGNORECASE)
_MEGABYTES = {"K": 1 / 1024, "": 1.0, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}
_BRACKETS = re.compile(r"([^,\[\]]*)\[([^\[\]]*)\]([^,\[\]]*)|([^,\[\]]+)")
MOST_HOSTS = 100_000


class Tres(NamedTuple):
    """What a job asks for or holds, of all its nodes together; nan where nothing is said."""

    gpus: float = 0.0
    gpu_types: str = ""  # joined with |
    cpu: float = math.nan
    memory_gb: float = math.nan


def tres(text: str) -> Tres:
    """`billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1` as numbers.

    The count without a type is that of all GPUs; where it is not there, the typed ones are added up.
    """
    total, typed, kinds, cpu, memory = math.nan, 0.0, list[str](), math.nan, math.nan
    for piece in filter(None, text.split(",")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise ValueError(piece)
        if key == "gres/gpu":
            total = _count(value)
        elif key.startswith("gres/gpu:"):
            if count := _count(value):
                typed += count
                kinds.append(key.removeprefix("gres/gpu:").lower())
        elif key == "cpu":
            cpu = _count(value)
        elif key == "mem":
            memory = memory_gb(value)
    return Tres(typed if math.isnan(total) else total, "|".join(kinds), cpu, memory)


def memory_gb(text: str) -> float:
    """`64G`, `64000M`, `1.5T`: in GB of 1024 MB; without a unit it is MB, as everywhere in Slurm."""
    number, unit = _size(text)
    return number * _MEGABYTES[unit] / 1024


def duration_s(text: str) -> float:
    """`1-02:03:04`, `02:03:04`, `03:04` (minutes and seconds), `90` (minutes), `1-02` (days and hours).

    nan: there is no limit.
    """
    text = text.strip()
    if text.lower() in NO_LIMIT | UNKNOWN:
        return math.nan
    days, dash, clock = text.rpartition("-")
    parts = clock.partition(".")[0].split(":")
    units = (3600, 60, 1)[: len(parts)] if dash else {1: (60,), 2: (60, 1), 3: (3600, 60, 1)}.get(len(parts))
    digits = [days, *parts] if dash else parts
    if not units or len(units) < len(parts) or not all(_DIGITS.fullmatch(each) for each in digits):
        raise ValueError(text)
    return 86400.0 * int(days or 0) + sum(int(part) * unit for part, unit in zip(parts, units))


def hosts(text: str) -> Iterator[str]:
    """`gpu[01-03,7],login1` as single names."""
    at = 0
    text = text.strip()
    while at < len(text):
        match = _BRACKETS.match(text, at)
        if match is None:
            raise ValueError(text)
        if match[4] is not None:
            yield match[4].strip()
        else:
            yield from (f"{match[1]}{number}{match[3]}" for number in _numbers(match[2]))
        at = match.end()
        if at < len(text):
            if text[at] != ",":
                raise ValueError(text)
            at += 1


def _numbers(text: str) -> Iterator[str]:
    """`01-03,7` as 01, 02, 03, 7."""
    for piece in text.split(","):
        low, dash, high = piece.strip().partition("-")
        if not low.isascii() or not low.isdigit() or (dash and not (high.isascii() and high.isdigit())):
            raise ValueError(text)
        last = int(high or low)
        if not int(low) <= last < int(low) + MOST_HOSTS:
            raise ValueError(text)
        yield from (str(number).zfill(len(low)) for number in range(int(low), last + 1))


def _count(text: str) -> float:
    number, unit = _size(text)
    return number * 1000.0 ** "_KMGTP".index(unit or "_")


def _size(text: str) -> tuple[float, str]:
    """A number, and the letter of its unit."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return float(match[1]), match[2].upper()
