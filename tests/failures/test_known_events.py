"""What is known of node events at a time: what has happened, and what is announced or expected by then."""

from dataclasses import dataclass

import pytest

from blox.errors import BloxError
from blox.failures import Drain, Random, Reserve, Trace
from blox.failures.timeline import Timeline, events_ahead
from blox.state.cluster_spec import cluster_from_spec
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent

TWO = cluster_from_spec("2x4")
DRAIN = Drain(node=("1",), at=1800.0, lasts=600.0, notice=300.0)


def ahead(now, *sources):
    job_state = JobState(0)
    job_state.now = now
    return [tuple(event) for event in events_ahead(sources, TWO, 0, job_state)]


def outages(tmp_path, *lines):
    path = tmp_path / "outages.csv"
    path.write_text("\n".join(("node,down,up,notice", *lines)) + "\n")
    return Trace(str(path))


def test_a_drain_is_known_from_its_notice_on():
    assert ahead(1499.0, DRAIN) == []
    assert ahead(1500.0, DRAIN) == [(1800.0, 1, "down", True), (2400.0, 1, "up", False)]
    assert ahead(1800.0, DRAIN) == [(2400.0, 1, "up", False)]
    assert ahead(2400.0, DRAIN) == []


def test_one_without_notice_is_known_with_its_end_once_it_begins():
    at_once = Drain(node=("1",), at=1800.0, lasts=600.0)
    assert ahead(1799.0, at_once) == []
    assert ahead(1800.0, at_once) == [(2400.0, 1, "up", False)]


def test_of_an_outage_without_notice_nothing_is_known_ahead(tmp_path):
    source = outages(tmp_path, "1,1800,2400,")
    assert [ahead(now, source) for now in (0.0, 1800.0, 2399.0, 2400.0)] == [[]] * 4


def test_notices_of_one_node_that_overlap_are_told_apart(tmp_path):
    """At 60 the second drain is not announced: the node is expected up, not draining, at 200."""
    source = outages(tmp_path, "0,100,200,50", "0,250,300,100")
    assert ahead(60.0, source) == [(100.0, 0, "down", True), (200.0, 0, "up", False)]
    assert ahead(150.0, source) == [
        (200.0, 0, "draining", False), (250.0, 0, "down", True), (300.0, 0, "up", False),
    ]  # fmt: skip


def test_a_drain_of_a_node_that_has_failed_does_not_say_when_it_is_repaired(tmp_path):
    source = outages(tmp_path, "0,100,200,", "0,250,300,100")
    assert [event[2] for event in ahead(150.0, source)] == ["down", "down"]
    assert ahead(200.0, source) == [(250.0, 0, "down", True), (300.0, 0, "up", False)]


def test_reservations_are_known_from_the_beginning(tmp_path):
    path = tmp_path / "windows.toml"
    window = '[[reservation]]\nbegin = {}\nlasts = {}\nnodes = ["{}"]\n'
    path.write_text(window.format(1000, 1000, 0) + window.format(3000, 3600, 1) + 'tenants = ["t2"]\n')
    assert ahead(0.0, Reserve(str(path))) == [
        (1000.0, 0, "down", True), (2000.0, 0, "up", False),
        (3000.0, 1, "up", False), (6600.0, 1, "up", False),
    ]  # fmt: skip
    assert ahead(3000.0, Reserve(str(path))) == [(6600.0, 1, "up", False)]


def test_a_node_that_fails_at_random_is_expected_back_after_a_mean_repair():
    source = Random(mtbf=86400.0, repair=3600.0)
    down, up = (event for event in Timeline([source], TWO, 0).due(1e6)[:2])
    assert (down.state, up.state, down.node) == ("down", "up", up.node)
    assert ahead(down.time_s - 1.0, source) == []
    for now in (down.time_s, (down.time_s + up.time_s) / 2):
        assert ahead(now, source) == [(now + 3600.0, down.node, "up", False)]
    assert ahead(up.time_s, source) == []


def test_of_several_sources_the_worst_state_counts_ahead_as_well(tmp_path):
    """Node 1 fails at 1600 for no known time: it stays down when the drain ends."""
    failure = outages(tmp_path, "1,1600,9000,")
    assert [event[2] for event in ahead(1700.0, DRAIN, failure)] == ["down", "down"]
    assert [event[2] for event in ahead(1599.0, DRAIN, failure)] == ["down", "up"]


@dataclass(frozen=True)
class Silent:
    """Tells of no event before it happens."""

    def node_events(self, cluster, seed):
        yield NodeEvent(100.0, 0, "draining")
        yield NodeEvent(200.0, 0, "down", announced=True)
        yield NodeEvent(300.0, 0, "up")


@dataclass(frozen=True)
class Wrong(Silent):
    """Knows of a node that there is not."""

    def known_events(self, cluster, seed, now):
        yield NodeEvent(now + 1.0, 9, "up")


def test_of_a_source_that_does_not_say_what_is_known_only_the_past_is():
    assert [ahead(now, Silent()) for now in (100.0, 200.0)] == [[], []]
    later = Drain(node=("0",), at=150.0, lasts=100.0, notice=60.0)
    assert [event[2] for event in ahead(120.0, Silent(), later)] == ["down", "draining"], "its state counts"


def test_events_that_cannot_be_are_refused():
    with pytest.raises(BloxError, match="Wrong gives node 9") as fault:
        ahead(0.0, Wrong())
    assert fault.value.where == "known_events()"


def test_a_trace_is_read_once(tmp_path):
    source = outages(tmp_path, "1,1800,2400,300")
    before = ahead(1500.0, source)
    outages(tmp_path, "1,1800,2500,300")
    assert ahead(1500.0, source) == before
