"""Roster: who is there, in the order of coming, kept up to date in place.

Coming and leaving touch only those who come and leave; the list of all is made when somebody asks for it.
"""

from __future__ import annotations

import numpy as np

from blox.state.columns import scalar_view
from blox.workloads.table import Array

_ROOM = 64  # places at the end of a line that is closed up
_GAP = -1


class Roster:
    """Rows, each once. `rows` gives them as an array that nobody changes any more."""

    __slots__ = ("_end", "_line", "_line_of", "_numbers", "_place", "_place_of", "_rows", "_size")

    def __init__(self, rows: Array) -> None:
        self._place: Array = np.empty(0, dtype=np.int64)  # by row: where it stands in the line
        self._place_of = scalar_view(self._place)
        self._rows: Array | None = rows
        self._line: Array = rows
        self._line_of = scalar_view(rows)
        self._numbers: Array = rows  # 0, 1, 2, ... for every place in the line
        self._size = self._end = 0
        self._line_up(rows, 0)

    @property
    def rows(self) -> Array:
        """Everybody, who came first first."""
        if self._rows is None:
            line = self._line[: self._end]
            self._rows = line[line != _GAP] if self._size < self._end else line.copy()
            self._rows.flags.writeable = False
        return self._rows

    def copy(self) -> Roster:
        """An independent copy."""
        return Roster(self.rows)

    def join(self, rows: Array) -> None:
        """These rows come, to the end of the line."""
        if not len(rows):
            return
        start, end = self._end, self._end + len(rows)
        if end > len(self._line):
            self._line_up(self.rows, len(rows))
            start, end = self._end, self._end + len(rows)
        if rows.item(rows.argmax()) >= len(self._place):
            self._grow(int(rows.max()))
        self._line[start:end], self._place[rows] = rows, self._numbers[start:end]
        self._end = end
        self._size += end - start
        self._rows = None

    def join_one(self, row: int) -> None:
        """The same for one."""
        if self._end == len(self._line):
            self._line_up(self.rows, 1)
        if row >= len(self._place):
            self._grow(row)
        self._line_of[self._end], self._place_of[row] = row, self._end
        self._end += 1
        self._size += 1
        self._rows = None

    def leave(self, rows: Array) -> None:
        """These rows, who are there, go."""
        self._line[self._place.take(rows)] = _GAP
        self._size -= len(rows)
        self._rows = None

    def leave_one(self, row: int) -> None:
        """The same for one."""
        self._line_of[self._place_of[row]] = _GAP
        self._size -= 1
        self._rows = None

    def _line_up(self, rows: Array, more: int) -> None:
        """A new line without gaps, with room for so many more."""
        room = 2 * len(rows) + more + _ROOM
        self._line, self._numbers = np.empty(room, dtype=np.int64), np.arange(room)
        self._line_of = scalar_view(self._line)
        self._size = self._end = 0
        self.join(rows)
        self._rows = rows

    def _grow(self, row: int) -> None:
        """Room for the places of all rows up to this one."""
        grown = np.empty(2 * row + _ROOM, dtype=np.int64)
        grown[: len(self._place)] = self._place
        self._place, self._place_of = grown, scalar_view(grown)
