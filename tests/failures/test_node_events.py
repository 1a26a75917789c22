"""Node events of a source: returned once, in order of time."""

import math

from blox.failures.node_events import ListedNodeEvents
from blox.state.node_events import NodeEvent


def test_listed_events_are_returned_once_in_order_of_time():
    early, late = NodeEvent(10.0, 0, "down"), NodeEvent(30.0, 1, "up")
    together = [NodeEvent(20.0, 1, "down"), NodeEvent(20.0, 0, "up")]
    events = ListedNodeEvents([*together, early, late])
    assert (events.next_s, events.due(9.0)) == (10.0, [])
    assert events.due(20.0) == [early, *together]
    assert (events.next_s, events.due(20.0)) == (30.0, [])
    assert events.due(100.0) == [late]
    assert events.next_s == math.inf


def test_there_are_none_by_default():
    assert (ListedNodeEvents().next_s, ListedNodeEvents().due(1e9)) == (math.inf, [])
