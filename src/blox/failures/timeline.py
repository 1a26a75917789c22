"""The node events of one or several sources as one stream, checked: as they come, and as known at a time."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import NamedTuple, Protocol, runtime_checkable

from blox.errors import BloxError
from blox.failures.node_events import NodeEvents
from blox.foreign import watched_part
from blox.optional import declared
from blox.state.cluster_spec import ClusterSpec
from blox.state.jobs import JobState
from blox.state.node_events import STATES, NodeEvent, NodeState


@runtime_checkable
class FailureSource(Protocol):
    """Says which nodes fail when; with `job_mtbf` (`optional.py`), how often jobs fail by themselves."""

    def node_events(self, cluster: ClusterSpec, seed: int) -> Iterator[NodeEvent]:
        """Changes of state in order of time, endless or not. Same cluster and seed, same events."""
        ...


def worst_states(events: Iterable[tuple[int, NodeEvent]]) -> Iterator[NodeEvent]:
    """Events of several sources, given with the number of each, as those of one.

    Where several speak of a node, the worst state counts: it is down as long as one says so. An event may
    repeat the state that its node is in: another source has kept it there.
    """
    said: dict[int, dict[int, NodeState]] = {}  # by node, what each source said last, unless that it is up
    for source, event in events:
        of_node = said.setdefault(event.node, {})
        of_node[source] = event.state
        if event.state == "up":
            del of_node[source]
        yield event._replace(state=max(of_node.values(), key=STATES.index, default="up"))


class Timeline(NodeEvents):
    """The node events of all sources."""

    def __init__(self, sources: Sequence[FailureSource], cluster: ClusterSpec, seed: int) -> None:
        super().__init__(_merged(_all_events(source, cluster, seed) for source in sources))


def events_ahead(
    sources: Sequence[FailureSource], cluster: ClusterSpec, seed: int, job_state: JobState
) -> list[NodeEvent]:
    """The node events after `job_state.now` that are known by then: announced, reserved or expected ones.

    A failure that has not happened is not among them. A node that has failed comes back where its source
    expects it to; a source without `known_events` expects and announces nothing.
    """
    now = job_state.now
    together = _merged(_known_events(source, cluster, seed, now) for source in sources)
    return [event for event in together if event.time_s > now]


def _all_events(source: FailureSource, cluster: ClusterSpec, seed: int) -> Iterator[NodeEvent]:
    events = watched_part(source).node_events(cluster, seed)
    return _checked(events, source, "node_events()", cluster)


def _known_events(source: FailureSource, cluster: ClusterSpec, seed: int, now: float) -> Iterator[NodeEvent]:
    """The events of a source as known at `now` (s), those up to then included."""
    if known := declared(source, "known_events"):
        return _checked(known(cluster, seed, now), source, "known_events()", cluster)
    return itertools.takewhile(lambda event: event.time_s <= now, _all_events(source, cluster, seed))


def _merged(streams: Iterable[Iterator[NodeEvent]]) -> Iterator[NodeEvent]:
    """The events of several sources as those of one, in order of time."""
    numbered = (zip(itertools.repeat(number), stream) for number, stream in enumerate(streams))
    return worst_states(heapq.merge(*numbered, key=lambda each: (each[1].time_s, each[1].node)))


def _checked(
    events: Iterator[NodeEvent], source: FailureSource, where: str, cluster: ClusterSpec
) -> Iterator[NodeEvent]:
    """The events that a source gives; refuses what cannot happen."""
    last = 0.0
    for event in events:
        if (wrong := wrong_event(event, last, cluster)) is not None:
            raise BloxError(f"{type(source).__name__} gives {wrong.what}", where=where, fix=wrong.fix)
        last = event.time_s
        yield event


class WrongEvent(NamedTuple):
    """The rule that an event breaks (form, order, nodes or states), what is wrong in words, and a fix."""

    rule: str
    what: str
    fix: str


def wrong_event(event: object, last_s: float, cluster: ClusterSpec) -> WrongEvent | None:
    """What is wrong with an event that follows one at `last_s` (s); None where it can happen."""
    if not isinstance(event, NodeEvent):
        return WrongEvent("form", f"{event!r}", "yield NodeEvent(time_s, node, state)")
    if not isinstance(event.time_s, Real) or not last_s <= event.time_s < math.inf:
        what = f"an event at {event.time_s!r} after one at {last_s!r}"
        return WrongEvent("order", what, "give them in order of time")
    if not isinstance(event.node, Integral) or not 0 <= event.node < len(cluster.nodes):
        fix = f"the cluster has nodes 0 to {len(cluster.nodes) - 1}"
        return WrongEvent("nodes", f"node {event.node!r}", fix)
    if event.state not in STATES:
        return WrongEvent("states", f"the state {event.state!r}", f"states are {', '.join(STATES)}")
    return None
