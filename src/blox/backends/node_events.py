"""Sources of node events: when nodes go down and come back up. A backend merges one into its own events."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

NodeEvent = tuple[float, int, bool]  # (time in s, node, whether it is up from then on)


class NodeEvents(Protocol):
    """A source of node events. It is asked for those that are due at every wake-up."""

    @property
    def next_s(self) -> float:
        """When the next event is due that `due` has not returned yet; inf: there is none."""
        ...

    def due(self, now: float) -> list[tuple[int, bool]]:
        """(node, up) of every event up to `now` in order of time, each returned once."""
        ...


class ListedNodeEvents:
    """Node events that are known beforehand; none by default."""

    def __init__(self, events: Iterable[NodeEvent] = ()) -> None:
        self._events = sorted(events, key=lambda event: event[0])
        self._returned = 0
        self.next_s = self._events[0][0] if self._events else math.inf

    def due(self, now: float) -> list[tuple[int, bool]]:
        if now < self.next_s:
            return []
        found = []
        while self.next_s <= now:
            _, node, up = self._events[self._returned]
            found.append((node, up))
            self._returned += 1
            more = self._returned < len(self._events)
            self.next_s = self._events[self._returned][0] if more else math.inf
        return found
