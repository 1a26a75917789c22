"""ActiveRows: the admitted, unfinished jobs, listed on demand. ChangeLog: which rows changed, for policies
that follow single jobs instead of looking at all of them."""

from __future__ import annotations

import numpy as np

from blox.state.row_order import RowOrder
from blox.workloads.table import Array

_KEPT = 4096  # entries that a change log keeps at least


class ActiveRows:
    """A set of rows; `rows` lists them ascending. The same array is returned until the set changes."""

    def __init__(self, rows: Array) -> None:
        self._order = RowOrder(rows)
        self._last = int(rows.max(initial=-1))  # the highest row that has joined
        self._ascending = True

    @property
    def rows(self) -> Array:
        """The rows, ascending. Do not change it."""
        if not self._ascending:
            self._order, self._ascending = RowOrder(np.sort(self._order.rows)), True
        return self._order.rows

    def join(self, rows: Array) -> None:
        """Adds rows, ascending among themselves."""
        if rows.item(0) < self._last:
            self._ascending = False  # a job that was held back comes after younger ones
        self._last = max(self._last, rows.item(-1))
        if len(rows) == 1:
            self._order.join_one(rows.item())
        else:
            self._order.join(rows)

    def leave(self, rows: Array) -> None:
        """Removes rows."""
        if len(rows) == 1:
            self._order.leave_one(rows.item())
        else:
            self._order.leave(rows)


class ChangeLog:
    """Arrays of rows, in the order in which they were noted; only the latest are kept."""

    def __init__(self) -> None:
        self._entries: list[Array] = []
        self._first = 0  # position of the first entry that is kept

    @property
    def end(self) -> int:
        """The position behind the last entry: where a reader goes on the next time."""
        return self._first + len(self._entries)

    def note(self, rows: Array) -> None:
        """Appends an entry."""
        self._entries.append(rows)
        if len(self._entries) > 2 * _KEPT:
            del self._entries[:_KEPT]
            self._first += _KEPT

    def since(self, position: int) -> list[Array] | None:
        """The entries from a position on; None: some of them are not kept any more, look at all jobs."""
        return None if position < self._first else self._entries[position - self._first :]

    def copy(self) -> ChangeLog:
        """An independent copy."""
        twin = ChangeLog()
        twin._entries, twin._first = self._entries.copy(), self._first
        return twin
