"""ActiveRows: the admitted, unfinished jobs, listed on demand. ChangeLog: which rows changed, for policies
that follow single jobs instead of looking at all of them."""

from __future__ import annotations

import numpy as np

from blox.workloads.table import Array

_KEPT = 4096  # entries that a change log keeps at least, and changes that are entered together at most


class ActiveRows:
    """A set of rows; `rows` lists them ascending. The same array is returned until the set changes."""

    def __init__(self, rows: Array) -> None:
        self._rows = rows
        self._last = int(rows.max(initial=-1))  # the last row that joined
        self._ascending = True  # whether rows have joined in their order
        self._joined: list[Array] = []  # since they were listed
        self._left: list[Array] = []

    @property
    def rows(self) -> Array:
        """The rows, ascending. Do not change it."""
        if self._joined or self._left:
            self._list()
        return self._rows

    def join(self, rows: Array) -> None:
        """Adds rows, ascending among themselves."""
        if rows.item(0) < self._last:
            self._ascending = False  # a job that was held back comes after younger ones
        self._last = rows.item(-1)
        self._joined.append(rows)

    def leave(self, rows: Array) -> None:
        """Removes rows that are in the set."""
        self._left.append(rows)
        if len(self._left) > _KEPT:
            self._list()

    def _list(self) -> None:
        rows, left = self._rows, self._left
        if self._joined:
            rows = np.concatenate((rows, *self._joined))
            if not self._ascending:
                rows.sort()
                self._last, self._ascending = rows.item(-1), True
        if left:
            gone = rows.searchsorted(left[0] if len(left) == 1 else np.concatenate(left))
            stays = np.ones(len(rows), dtype=bool)
            stays[gone] = False
            rows = rows[stays]
        rows.flags.writeable = False
        self._rows, self._joined, self._left = rows, [], []


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
