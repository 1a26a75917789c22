"""Sources of node events: when nodes go down and come back up. A backend merges one into its own events."""

from __future__ import annotations

import math
from collections.abc import Iterable

from blox.state.node_events import NodeEvent


class NodeEvents:
    """Node events in order of time, endless or not. Those that are due are asked for at every wake-up."""

    def __init__(self, events: Iterable[NodeEvent]) -> None:
        self._events = iter(events)
        self._take_next()

    def _take_next(self) -> None:
        self._next = next(self._events, None)
        # When the next event is due that `due` has not returned yet; inf: there is none.
        self.next_s = math.inf if self._next is None else self._next.time_s

    def due(self, now: float) -> list[NodeEvent]:
        """Every event up to `now` in order of time, each returned once."""
        found = []
        while self._next is not None and self.next_s <= now:
            found.append(self._next)
            self._take_next()
        return found


class ListedNodeEvents(NodeEvents):
    """Node events that are known beforehand; none by default."""

    def __init__(self, events: Iterable[NodeEvent] = ()) -> None:
        super().__init__(sorted(events, key=lambda event: event.time_s))
