"""Changes: what is different since a reader last asked, so that a page need not read everything again.

Versions count the steps that changed something, and begin anew with every term. Nothing of this is stored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from blox.cluster.protocol.outputs import Note
from blox.cluster.protocol.queries import Happening

_EVENTS = 500  # kept for a page that reads them late


class Changes:
    """By job, the version of its last change; of the nodes, one for all; and the latest events."""

    def __init__(self, jobs: Iterable[int]) -> None:
        self.version = 1
        self.nodes = 1  # the version of their last change
        self._jobs = dict.fromkeys(jobs, 1)  # in order of their versions
        self._events: deque[tuple[int, Happening]] = deque(maxlen=_EVENTS)

    def note(self, jobs: Iterable[int], nodes: bool, notes: Iterable[Note], now: float) -> None:
        """A step has changed these jobs, and nodes; or something happened that is worth telling."""
        version = self.version + 1
        for job in jobs:
            self._jobs.pop(job, None)
            self._jobs[job] = self.version = version
        for note in notes:
            self._events.append((version, Happening(now, note.event, note.fields)))
            self.version = version
            nodes = nodes or note.event == "node"
        if nodes:
            self.nodes = self.version = version

    def forget(self, job: int) -> None:
        """The scheduler does not know the job any more."""
        self._jobs.pop(job, None)

    def jobs_since(self, version: int, most: int) -> tuple[list[int], int]:
        """Jobs that changed after a version, at most about so many; and the version that a reader then has.

        All changes of a step are told together, so that no version is told in part.
        """
        found: list[tuple[int, int]] = []
        for job, changed in reversed(self._jobs.items()):
            if changed <= version:
                break
            found.append((changed, job))
        found.reverse()
        if len(found) <= most:
            return [job for _, job in found], self.version
        until = found[most][0]
        return [job for changed, job in found if changed <= until], until

    def events_since(self, version: int, until: int) -> list[Happening]:
        """What happened after a version, up to another."""
        return [event for changed, event in self._events if version < changed <= until]
