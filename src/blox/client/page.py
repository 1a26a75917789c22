"""LeasePage: the memory that a rank shares with its worker manager. A file of a few numbers, mapped by both.

Reading the lease is reading memory: no message, no lock. Every number has one writer.
"""

from __future__ import annotations

import mmap
from pathlib import Path

# By the worker manager: revoked, exit_at, central, allowed. By the rank: the others.
FIELDS = ("revoked", "exit_at", "central", "allowed", "proposed", "asked", "iteration", "checkpoint")
_INITIAL = {"revoked": 0, "central": 0}  # the others: -1, never


def _number(name: str) -> property:
    """A number of the page, by its place."""
    place = FIELDS.index(name)

    def read(page: LeasePage) -> int:
        number: int = page.numbers[place]
        return number

    def write(page: LeasePage, value: int) -> None:
        page.numbers[place] = value

    return property(read, write)


class LeasePage:
    """Attributes are numbers in shared memory; see `blox.cluster.protocol.rank.Lease`."""

    revoked = _number("revoked")
    exit_at = _number("exit_at")
    central = _number("central")
    allowed = _number("allowed")
    proposed = _number("proposed")
    asked = _number("asked")
    iteration = _number("iteration")
    checkpoint = _number("checkpoint")

    def __init__(self, path: str | Path) -> None:
        with open(path, "r+b") as file:
            memory = mmap.mmap(file.fileno(), 8 * len(FIELDS))
        self.numbers = memoryview(memory).cast("q")

    @classmethod
    def create(cls, path: Path, *, central: bool = False) -> LeasePage:
        path.write_bytes(bytes(8 * len(FIELDS)))
        page = cls(path)
        for place, name in enumerate(FIELDS):
            page.numbers[place] = _INITIAL.get(name, -1)
        page.central = int(central)
        return page
