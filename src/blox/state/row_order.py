"""RowOrder: a set of rows in the order in which they joined, kept up to date in place.

Joining and leaving touch only the rows concerned; the list of all rows is made when it is asked for.
"""

from __future__ import annotations

import numpy as np

from blox.state.columns import scalar_view
from blox.workloads.table import Array

_SPARE = 64  # free slots at the end of a compacted list
_GAP = -1


class RowOrder:
    """Rows, each once. `rows` lists them as an array that is never changed afterwards."""

    __slots__ = ("_end", "_numbers", "_rows", "_size", "_slot", "_slot_view", "_slots", "_slots_view")

    def __init__(self, rows: Array) -> None:
        self._slot: Array = np.empty(0, dtype=np.int64)  # by row: its index in `_slots`
        self._slot_view = scalar_view(self._slot)
        self._rows: Array | None = rows
        self._size = self._end = 0
        self._compact(rows, 0)

    @property
    def rows(self) -> Array:
        """All rows, in the order in which they joined."""
        if self._rows is None:
            slots = self._slots[: self._end]
            self._rows = slots[slots != _GAP] if self._size < self._end else slots.copy()
            self._rows.flags.writeable = False
        return self._rows

    @property
    def bound(self) -> int:
        """Every row that ever joined is below."""
        return len(self._slot)

    def copy(self) -> RowOrder:
        """An independent copy."""
        return RowOrder(self.rows)

    def join(self, rows: Array) -> None:
        """Appends rows."""
        if not len(rows):
            return
        start, end = self._end, self._end + len(rows)
        if end > len(self._slots):
            self._compact(self.rows, len(rows))
            start, end = self._end, self._end + len(rows)
        if rows.item(rows.argmax()) >= len(self._slot):
            self._grow(int(rows.max()))
        self._slots[start:end], self._slot[rows] = rows, self._numbers[start:end]
        self._end = end
        self._size += end - start
        self._rows = None

    def join_one(self, row: int) -> None:
        """Appends one row."""
        if self._end == len(self._slots):
            self._compact(self.rows, 1)
        if row >= len(self._slot):
            self._grow(row)
        self._slots_view[self._end], self._slot_view[row] = row, self._end
        self._end += 1
        self._size += 1
        self._rows = None

    def leave(self, rows: Array) -> None:
        """Removes rows that are in the set."""
        self._slots[self._slot[rows]] = _GAP
        self._size -= len(rows)
        self._rows = None

    def leave_one(self, row: int) -> None:
        """Removes one row that is in the set."""
        self._slots_view[self._slot_view[row]] = _GAP
        self._size -= 1
        self._rows = None

    def _compact(self, rows: Array, more: int) -> None:
        """Lays the rows out without gaps, with space for `more` of them."""
        space = 2 * len(rows) + more + _SPARE
        self._slots, self._numbers = np.empty(space, dtype=np.int64), np.arange(space)
        self._slots_view = scalar_view(self._slots)
        self._size = self._end = 0
        self.join(rows)
        self._rows = rows

    def _grow(self, row: int) -> None:
        grown = np.empty(2 * row + _SPARE, dtype=np.int64)
        grown[: len(self._slot)] = self._slot
        self._slot, self._slot_view = grown, scalar_view(grown)
