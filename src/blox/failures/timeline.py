"""Timeline: the node events of one or several sources as one stream, checked."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from typing import Protocol

from blox.errors import BloxError
from blox.state.cluster_spec import ClusterSpec
from blox.state.node_events import STATES, NodeEvent, NodeState


class FailureSource(Protocol):
    """Says which nodes fail when. A class attribute or field `job_mtbf` (GPU-seconds): jobs fail as well."""

    def node_events(self, cluster: ClusterSpec, seed: int) -> Iterator[NodeEvent]:
        """Changes of state in order of time, endless or not. Same cluster and seed, same events."""
        ...


class Timeline:
    """Where several sources speak of a node, the worst state counts: it is down as long as one says so.

    An event may repeat the state that its node is in: another source has kept it there.
    """

    def __init__(self, sources: Sequence[FailureSource], cluster: ClusterSpec, seed: int) -> None:
        streams = (
            _checked(source, number, cluster, source.node_events(cluster, seed))
            for number, source in enumerate(sources)
        )
        self._events = heapq.merge(*streams, key=lambda each: (each[0].time_s, each[0].node))
        self._said: dict[int, list[NodeState]] = {}  # by node, what each source said last
        self._sources = len(sources)
        self._next: NodeEvent | None = self._draw()

    @property
    def next_s(self) -> float:
        """When the next event is due; inf: there is none."""
        return math.inf if self._next is None else self._next.time_s

    def due(self, now: float) -> list[NodeEvent]:
        """The events up to `now` that have not been given out, in order of time."""
        found = []
        while self._next is not None and self._next.time_s <= now:
            found.append(self._next)
            self._next = self._draw()
        return found

    def _draw(self) -> NodeEvent | None:
        """The next event of any source, with the state that its node is in by then."""
        event, source = next(self._events, (None, 0))
        if event is None:
            return None
        said = self._said.setdefault(event.node, ["up"] * self._sources)
        said[source] = event.state
        return event._replace(state=max(said, key=STATES.index))


def _checked(
    source: FailureSource, number: int, cluster: ClusterSpec, events: Iterator[NodeEvent]
) -> Iterator[tuple[NodeEvent, int]]:
    """Passes events on with the number of their source; refuses what cannot happen."""
    last = 0.0
    for event in events:
        if not last <= event.time_s < math.inf:
            raise _fault(
                source, f"an event at {event.time_s!r} after one at {last!r}", "give them in order of time"
            )
        if not 0 <= event.node < len(cluster.nodes):
            raise _fault(source, f"node {event.node}", f"the cluster has nodes 0 to {len(cluster.nodes) - 1}")
        if event.state not in STATES:
            raise _fault(source, f"the state {event.state!r}", f"states are {', '.join(STATES)}")
        last = event.time_s
        yield event, number


def _fault(source: FailureSource, what: str, fix: str) -> BloxError:
    return BloxError(f"{type(source).__name__} gives {what}", where="node_events()", fix=fix)
