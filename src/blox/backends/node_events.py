"""Sources of node events: when nodes go down and come back up. A backend merges one into its own events."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

from blox.state.node_events import NodeEvent


class NodeEvents(Protocol):
    """A source of node events. It is asked for those that are due at every wake-up."""

    @property
    def next_s(self) -> float:
        """When the next event is due that `due` has not returned yet; inf: there is none."""
        ...

    def due(self, now: float) -> list[NodeEvent]:
        """Every event up to `now` in order of time, each returned once."""
        ...


class ListedNodeEvents:
    """Node events that are known beforehand; none by default."""

    def __init__(self, events: Iterable[NodeEvent] = ()) -> None:
        self._events = sorted(events, key=lambda event: event.time_s)
        self._returned = 0
        self.next_s = self._events[0].time_s if self._events else math.inf

    def due(self, now: float) -> list[NodeEvent]:
        if now < self.next_s:
            return []
        first = self._returned
        while self.next_s <= now:
            self._returned += 1
            more = self._returned < len(self._events)
            self.next_s = self._events[self._returned].time_s if more else math.inf
        return self._events[first : self._returned]
