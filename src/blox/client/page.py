"""LeasePage: the memory that a rank shares with its worker manager. A file of a few numbers, mapped by both.

Reading the lease is reading memory: no message, no lock. Every number has one writer.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

# By the worker manager: revoked, exit_at, central, allowed. By the rank: the others.
FIELDS = ("revoked", "exit_at", "central", "allowed", "proposed", "asked", "iteration", "checkpoint")
_INITIAL = {"revoked": 0, "central": 0}  # the others: -1, never


class LeasePage:
    """Attributes are numbers in shared memory; see `blox.cluster.protocol.rank.Lease`."""

    revoked: int
    exit_at: int
    central: int
    allowed: int
    proposed: int
    asked: int
    iteration: int
    checkpoint: int

    def __init__(self, path: str | Path) -> None:
        with open(path, "r+b") as file:
            memory = mmap.mmap(file.fileno(), 8 * len(FIELDS))
        self.__dict__["_numbers"] = memoryview(memory).cast("q")

    @classmethod
    def create(cls, path: Path, *, central: bool = False) -> LeasePage:
        path.write_bytes(bytes(8 * len(FIELDS)))
        page = cls(path)
        for name in FIELDS:
            setattr(page, name, _INITIAL.get(name, -1))
        page.central = int(central)
        return page

    def __getattr__(self, name: str) -> int:
        if name not in FIELDS:
            raise AttributeError(name)
        number: int = self.__dict__["_numbers"][FIELDS.index(name)]
        return number

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["_numbers"][FIELDS.index(name)] = int(value)
