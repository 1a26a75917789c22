"""ChangeLog: which jobs changed, for policies that update single jobs instead of examining all."""

from __future__ import annotations

import copy

from blox.workloads.table import Array

_KEPT = 4096  # at least this many of the latest entries are kept


class ChangeLog:
    """Rows that were admitted, started, stopped or finished, in order of time.

    Entries are kept from the first time that they are asked for; old ones are dropped."""

    def __init__(self) -> None:
        self._read = False  # whether a policy has asked for entries: most runs have none that does
        self._entries: list[tuple[Array, bool]] = []  # rows, and whether they started
        self._first = 1  # position of the first entry that is kept

    @property
    def end(self) -> int:
        """The position after the last entry, from which a reader continues next time."""
        return self._first + len(self._entries)

    def note(self, rows: Array, started: bool = False) -> None:
        """Appends an entry."""
        if not self._read:
            return
        self._entries.append((rows, started))
        if len(self._entries) > 2 * _KEPT:
            del self._entries[:_KEPT]
            self._first += _KEPT

    def since(self, position: int, *, starts_only: bool = False) -> list[Array] | None:
        """The rows of each entry from `position` on; a reader that has none yet gives 0.

        None: entries since `position` were not kept; examine all jobs. `starts_only`: only entries of jobs
        that started."""
        self._read = True
        if position < self._first:
            return None
        return [rows for rows, began in self._entries[position - self._first :] if began or not starts_only]

    def copy(self) -> ChangeLog:
        """An independent copy."""
        twin = copy.copy(self)
        twin._entries = self._entries.copy()
        return twin
