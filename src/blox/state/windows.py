"""Windows: times in which nodes are kept for some jobs, or for none, known ahead and planned around.

A job that a window does not admit starts on its nodes only if it is believed to end before the window opens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from blox.state.believed import believed_s
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.jobs import JobState


@dataclass(frozen=True, eq=False)
class Window:
    """From `begin_s` to `end_s` these nodes are for jobs of some tenants and users; for none: maintenance."""

    name: str
    begin_s: float
    end_s: float
    nodes: Array  # their numbers
    tenants: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    @property
    def maintenance(self) -> bool:
        return not self.tenants and not self.users

    def overlaps(self, start_s: float, length_s: float) -> bool:
        """Whether a time that begins then and lasts so long is partly within it."""
        return start_s < self.end_s and start_s + length_s > self.begin_s

    def bars(self, rows: Array, job_state: JobState) -> Array:
        """Which jobs may not start on its nodes now: the window is open, or opens before they would end."""
        c, now = job_state.columns, job_state.now
        if now >= self.end_s:
            return np.zeros(len(rows), dtype=bool)
        left = np.maximum(believed_s(job_state, rows) - c.done0.take(rows), 0.0)
        late: Array = now + left > self.begin_s
        return late & ~self.admits(rows, job_state)

    def admits(self, rows: Array, job_state: JobState) -> Array:
        """Which jobs its nodes are for."""
        c = job_state.columns
        found: Array = np.isin(c.tenant.take(rows), self.tenants) | np.isin(c.user.take(rows), self.users)
        return found


def closed_nodes(
    windows: tuple[Window, ...], nodes: int, rows: Array, job_state: JobState
) -> list[Array | None]:
    """For each row the nodes that windows keep it out of, as a mask; None: none."""
    if not windows or not len(rows):
        return [None] * len(rows)
    barred = np.array([window.bars(rows, job_state) for window in windows])
    known: dict[bytes, Array | None] = {}
    found = []
    for column in barred.T:
        key = column.tobytes()
        if key not in known:
            mask = np.zeros(nodes, dtype=bool)
            for window, out in zip(windows, column.tolist()):
                if out:
                    mask[window.nodes] = True
            known[key] = mask if mask.any() else None
        found.append(known[key])
    return found
