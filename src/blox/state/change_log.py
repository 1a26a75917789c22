"""ChangeLog: which jobs changed, for policies that update single jobs instead of examining all."""

from __future__ import annotations

import copy

from blox.workloads.table import Array

_KEPT = 4096  # at least this many of the latest entries are kept


class ChangeLog:
    """Rows that changed, in order of time.

    Entries are kept from the first time that they are asked for; old ones are dropped."""

    def __init__(self) -> None:
        self._read = False  # whether a policy has asked for entries: most runs have none that does
        self._entries: list[Array] = []
        self._first = 1  # position of the first entry that is kept; above 0, where new readers begin

    @property
    def end(self) -> int:
        """The position after the last entry, from which a reader continues next time.

        It stays where it is until `since` is called for the first time."""
        return self._first + len(self._entries)

    def note(self, rows: Array) -> None:
        """Appends an entry."""
        if not self._read:
            return
        self._entries.append(rows)
        if len(self._entries) > 2 * _KEPT:
            del self._entries[:_KEPT]
            self._first += _KEPT

    def since(self, position: int) -> list[Array] | None:
        """The rows of each entry from `position` on; a reader that has none yet gives 0.

        None: entries since `position` were not kept; examine all jobs."""
        self._read = True
        return None if position < self._first else self._entries[position - self._first :]

    def copy(self) -> ChangeLog:
        """An independent copy."""
        twin = copy.copy(self)
        twin._entries = self._entries.copy()
        return twin
