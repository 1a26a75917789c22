"""RowOrder: a set of rows in the order in which they joined.

Rows that join or leave few at a time are noted, and entered when the list of all rows is asked for.
"""

from __future__ import annotations

import numpy as np

from blox.state.columns import SCALAR_MAX, read_only
from blox.workloads.table import Array


class RowOrder:
    """Rows, each once. `rows` lists them as an array that is never changed afterwards."""

    def __init__(self, rows: Array) -> None:
        self._rows = read_only(rows)  # as they were last listed
        self._joined: dict[int, None] = {}  # the rows that have joined since, in order
        self._left: list[int] = []  # the listed rows that have left since
        self.bound = int(rows.max(initial=-1)) + 1  # every row that ever joined is below

    @property
    def rows(self) -> Array:
        """All rows, in the order in which they joined."""
        if self._left:
            self._rows = self._without(np.array(self._left))
            self._left = []
        if self._joined:
            joined = np.fromiter(self._joined, dtype=np.int64, count=len(self._joined))
            self._rows, self._joined = np.concatenate((self._rows, joined)), {}
        self._rows.flags.writeable = False
        return self._rows

    def copy(self) -> RowOrder:
        """An independent copy."""
        return RowOrder(self.rows)

    def join(self, rows: Array) -> None:
        """Appends rows."""
        if len(rows) <= SCALAR_MAX:
            for row in rows.tolist():
                self._joined[row] = None
                if row >= self.bound:
                    self.bound = row + 1
            return
        self._rows = np.concatenate((self.rows, rows))
        self.bound = max(self.bound, int(rows.max()) + 1)

    def leave(self, rows: Array) -> None:
        """Removes rows that are in the set."""
        if len(rows) <= SCALAR_MAX:
            for row in rows.tolist():
                if row in self._joined:
                    del self._joined[row]
                else:
                    self._left.append(row)
            return
        if self._joined or self._left:
            _ = self.rows  # enters what was noted
        self._rows = self._without(rows)

    def _without(self, rows: Array) -> Array:
        stays = np.ones(self.bound, dtype=bool)
        stays[rows] = False
        left: Array = self._rows[stays[self._rows]]
        return left
