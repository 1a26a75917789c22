"""ChangeLog: which jobs changed, for policies that follow single jobs instead of looking at all of them."""

from __future__ import annotations

import copy

from blox.workloads.table import Array

_KEPT = 4096  # entries that are kept at least


class ChangeLog:
    """Rows that were admitted, started, stopped or finished, as it happened; only the latest are kept."""

    def __init__(self) -> None:
        self._entries: list[tuple[Array, bool]] = []  # rows, and whether they started
        self._first = 0  # position of the first entry that is kept

    @property
    def end(self) -> int:
        """The position behind the last entry: where a reader goes on the next time."""
        return self._first + len(self._entries)

    def note(self, rows: Array, started: bool = False) -> None:
        """Appends an entry."""
        self._entries.append((rows, started))
        if len(self._entries) > 2 * _KEPT:
            del self._entries[:_KEPT]
            self._first += _KEPT

    def since(self, position: int, *, starts_only: bool = False) -> list[Array] | None:
        """The rows of each entry from a position on; None: some are not kept any more, look at all jobs."""
        if position < self._first:
            return None
        return [rows for rows, began in self._entries[position - self._first :] if began or not starts_only]

    def copy(self) -> ChangeLog:
        """An independent copy."""
        twin = copy.copy(self)
        twin._entries = self._entries.copy()
        return twin
