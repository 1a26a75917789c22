"""Where failures come from: each source gives the same events for the same cluster and seed."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.experiment import prepared
from blox.failures import Drain, Random, Trace
from blox.failures.spec import failures_from_spec
from blox.failures.timeline import Timeline
from blox.state.cluster_spec import cluster_from_spec
from blox.state.node_events import NodeEvent

FOUR = cluster_from_spec("4x8")
DAY, HOUR = 86400.0, 3600.0


def first(source, count, cluster=FOUR, seed=0):
    return list(itertools.islice(source.node_events(cluster, seed), count))


def events(*sources, cluster=FOUR, until=1e9):
    """What sources say together, less what only repeats the state of a node."""
    state, found = {}, []
    for event in Timeline(sources, cluster, seed=0).due(until):
        if state.get(event.node, "up") != event.state:
            found.append(tuple(event))
        state[event.node] = event.state
    return found


@pytest.fixture
def outages(tmp_path):
    """A function that writes a file of outages and gives the source that reads it."""

    def write(*lines, head="node,down,up"):
        path = tmp_path / "outages.csv"
        path.write_text("\n".join((head, *lines)) + "\n")
        return Trace(str(path))

    return write


class TestRandom:
    def test_the_same_seed_gives_the_same_events(self):
        source = Random(mtbf=30 * DAY, repair=4 * HOUR)
        assert first(source, 50) == first(source, 50)
        assert first(source, 50) != first(source, 50, seed=1)

    def test_events_come_in_order_and_each_node_goes_down_and_up_in_turn(self):
        found = first(Random(mtbf=DAY), 200)
        assert [event.time_s for event in found] == sorted(event.time_s for event in found)
        for node in range(4):
            states = [event.state for event in found if event.node == node]
            assert states == ["down", "up"] * (len(states) // 2) + ["down"] * (len(states) % 2)

    def test_a_node_fails_alike_whatever_other_nodes_there_are(self):
        source = Random(mtbf=DAY)
        small = [event for event in first(source, 400, cluster_from_spec("2x8")) if event.node == 1]
        large = [event for event in first(source, 2000, cluster_from_spec("9x4")) if event.node == 1]
        assert small[:100] == large[:100]

    @pytest.mark.parametrize("shape", [0.5, 1.0, 3.0])
    def test_mtbf_is_the_mean_time_up_and_repair_the_mean_time_down(self, shape):
        found = first(Random(mtbf=10 * DAY, repair=DAY, shape=shape), 20_000, cluster_from_spec("1x8"))
        times = np.array([0.0, *(event.time_s for event in found)])
        up, down = np.diff(times)[::2], np.diff(times)[1::2]
        assert up.mean() == pytest.approx(10 * DAY, rel=0.04)
        assert down.mean() == pytest.approx(DAY, rel=0.04)
        spread = {0.5: 5**0.5, 1.0: 1.0, 3.0: 0.363}[shape]  # standard deviation over mean, of Weibull
        assert up.std() / up.mean() == pytest.approx(spread, rel=0.06)

    @pytest.mark.parametrize(
        ("options", "word"),
        [
            ({}, "nothing fails"),
            ({"mtbf": 0.0}, "mtbf is 0.0"),
            ({"mtbf": float("nan")}, "mtbf is nan"),
            ({"mtbf": -1.0}, "mtbf is -1.0"),
            ({"mtbf": 1e-300}, "mtbf is 1e-300\n  fix: mtbf must be above 0, 1 s to 1000 years"),
            ({"mtbf": 1e300}, "mtbf is 1e[+]300"),
            ({"mtbf": 1.0, "repair": 1e-300}, "repair is 1e-300"),
            ({"mtbf": 1.0, "repair": 1e308}, "repair is 1e[+]308\n  fix: .* 0 or 1 s to 1000 years"),
            ({"job_mtbf": 1e-300}, "job_mtbf is 1e-300"),
            ({"mtbf": 1.0, "repair": -1.0}, "repair is -1.0"),
            ({"mtbf": 1.0, "repair": float("inf")}, "repair is inf"),
            ({"mtbf": 1.0, "shape": 0.0}, "shape is 0.0"),
            ({"job_mtbf": 0.0}, "job_mtbf is 0.0"),
        ],
    )
    def test_parameters_that_make_no_sense_are_refused(self, options, word):
        with pytest.raises(BloxError, match=word):
            Random(**options)


class TestTrace:
    def test_nodes_go_down_and_up_as_the_file_says(self, outages):
        source = outages("node-2,10h,12h", "0,3600,", "node-2,20h,1d")
        assert first(source, 9) == [
            NodeEvent(1 * HOUR, 0, "down"),
            NodeEvent(10 * HOUR, 2, "down"),
            NodeEvent(12 * HOUR, 2, "up"),
            NodeEvent(20 * HOUR, 2, "down"),
            NodeEvent(24 * HOUR, 2, "up"),
        ]

    def test_an_outage_with_notice_is_a_drain(self, outages):
        source = outages("1,36h,38h,1h", "2,36h,38h,", head="node,down,up,notice")
        assert first(source, 9) == [
            NodeEvent(35 * HOUR, 1, "draining"),
            NodeEvent(36 * HOUR, 1, "down", True),
            NodeEvent(36 * HOUR, 2, "down"),
            NodeEvent(38 * HOUR, 1, "up"),
            NodeEvent(38 * HOUR, 2, "up"),
        ]

    def test_notice_of_an_outage_may_be_given_before_another_one_is_over(self, outages):
        source = outages("0,3h,4h,", "0,5h,6h,4h", head="node,down,up,notice")
        assert first(source, 9) == [
            NodeEvent(1 * HOUR, 0, "draining"),
            NodeEvent(3 * HOUR, 0, "down"),
            NodeEvent(4 * HOUR, 0, "draining"),
            NodeEvent(5 * HOUR, 0, "down", True),
            NodeEvent(6 * HOUR, 0, "up"),
        ]

    @pytest.mark.parametrize(
        ("lines", "words"),
        [
            (["node-9,1h,2h"], ["outages.csv:2", "no node is called 'node-9'", "node-0 to node-3"]),
            (["4,1h,2h"], ["outages.csv:2", "no node is called '4'", "0 to 3"]),
            (["-1,1h,2h"], ["outages.csv:2", "no node is called '-1'"]),
            (["0,1h,2h", "0,2h,1h"], ["outages.csv:3", "up is 1h and down 2h"]),
            (["0,1h,1h"], ["outages.csv:2", "comes up after it went down"]),
            (["0,-1,2h"], ["outages.csv:2, down", "'-1' is not a duration"]),
            (["0,1h,nan"], ["outages.csv:2, up", "'nan' is not a duration"]),
            (["0,,2h"], ["outages.csv:2, down", "'' is not a duration"]),
            (["0,1h"], ["outages.csv:2", "2 cells", "node,down,up"]),
            (["0,1h,3h", "1,1h,2h", "0,2h,4h"], ["outages.csv:4", "node-0", "until 3h", "outages.csv:2"]),
            (["0,1h,", "0,2h,4h"], ["outages.csv:3", "down already, for good"]),
        ],
    )
    def test_a_line_that_cannot_be_is_refused_with_its_number(self, outages, lines, words):
        with pytest.raises(BloxError) as caught:
            outages(*lines).node_events(FOUR, 0)
        assert all(word in str(caught.value) for word in words), str(caught.value)

    @pytest.mark.parametrize("head", ["node,down", "node,down,up,note", "node,down,up,up", ""])
    def test_a_file_without_the_columns_is_refused(self, outages, head):
        with pytest.raises(BloxError, match=r"outages.csv:1: .*\n  fix: the first line must be node,down,up"):
            outages("0,1h,2h", head=head).node_events(FOUR, 0)

    def test_a_file_that_is_not_there_is_named(self):
        with pytest.raises(BloxError, match=r"nowhere.csv: no such file"):
            Trace("nowhere.csv").node_events(FOUR, 0)


class TestDrain:
    def test_a_node_takes_no_new_job_from_the_notice_on_and_is_down_for_as_long_as_it_lasts(self):
        source = Drain(node=("node-3",), at=36 * HOUR, lasts=2 * HOUR, notice=HOUR)
        assert first(source, 9) == [
            NodeEvent(35 * HOUR, 3, "draining"),
            NodeEvent(36 * HOUR, 3, "down", True),
            NodeEvent(38 * HOUR, 3, "up"),
        ]

    def test_several_nodes_may_be_drained_at_once_and_for_good(self):
        assert first(Drain(node=("0", "2"), at=HOUR, notice=2 * HOUR), 9) == [
            NodeEvent(0.0, 0, "draining"),
            NodeEvent(0.0, 2, "draining"),
            NodeEvent(HOUR, 0, "down", True),
            NodeEvent(HOUR, 2, "down", True),
        ]

    @pytest.mark.parametrize(
        ("options", "word"),
        [
            ({"node": ()}, "no node is named"),
            ({"at": float("nan")}, "at is nan"),
            ({"at": -1.0}, "at is -1.0"),
            ({"notice": -1.0}, "notice -1.0"),
            ({"lasts": 0.0}, "lasts is 0.0"),
        ],
    )
    def test_parameters_that_make_no_sense_are_refused(self, options, word):
        with pytest.raises(BloxError, match=word):
            Drain(**{"node": ("0",), "at": HOUR, **options})

    def test_a_node_named_twice_or_not_there_is_refused(self):
        with pytest.raises(BloxError, match="node-0 goes down at 1h, and is down already"):
            Drain(node=("0", "node-0"), at=HOUR).node_events(FOUR, 0)
        with pytest.raises(BloxError, match="no node is called 'x'"):
            Drain(node=("x",), at=HOUR).node_events(FOUR, 0)


class TestTimeline:
    def test_a_node_is_down_as_long_as_one_source_says_so(self, outages):
        drain = Drain(node=("1",), at=10 * HOUR, lasts=10 * HOUR, notice=2 * HOUR)
        source = outages("1,9h,12h", "1,15h,30h")
        assert events(source, drain) == [
            (8 * HOUR, 1, "draining", False),
            (9 * HOUR, 1, "down", False),  # a failure while it drains
            (30 * HOUR, 1, "up", False),
        ]

    def test_a_repaired_node_goes_on_draining(self, outages):
        drain = Drain(node=("1",), at=10 * HOUR, lasts=HOUR, notice=5 * HOUR)
        assert events(outages("1,6h,7h"), drain) == [
            (5 * HOUR, 1, "draining", False),
            (6 * HOUR, 1, "down", False),
            (7 * HOUR, 1, "draining", False),
            (10 * HOUR, 1, "down", True),
            (11 * HOUR, 1, "up", False),
        ]

    def test_events_are_given_out_once_and_the_next_one_is_known(self):
        timeline = Timeline([Drain(node=("0",), at=100.0, lasts=100.0)], FOUR, seed=0)
        assert timeline.next_s == 100.0
        assert timeline.due(99.0) == []
        assert [event.state for event in timeline.due(100.0)] == ["down"]
        assert timeline.due(100.0) == []
        assert timeline.next_s == 200.0
        assert [event.state for event in timeline.due(1e6)] == ["up"]
        assert timeline.next_s == float("inf")

    @pytest.mark.parametrize(
        ("given", "word"),
        [
            ([NodeEvent(2.0, 0, "down"), NodeEvent(1.0, 0, "up")], "an event at 1.0 after one at 2.0"),
            ([NodeEvent(float("nan"), 0, "down")], "an event at nan"),
            ([NodeEvent(1.0, 4, "down")], "node 4"),
            ([NodeEvent(1.0, 0, "broken")], "the state 'broken'"),
        ],
    )
    def test_a_source_of_your_own_is_checked(self, given, word):
        @dataclass(frozen=True)
        class Mine:
            def node_events(self, cluster, seed):
                return iter(given)

        with pytest.raises(BloxError, match=word) as caught:
            Timeline([Mine()], FOUR, seed=0).due(10.0)
        assert "Mine" in str(caught.value)


class TestSpec:
    @pytest.mark.parametrize(
        ("spec", "sources"),
        [
            ("none", ()),
            ("mtbf=30d,repair=4h", (Random(mtbf=30 * DAY, repair=4 * HOUR),)),
            ("mtbf=30d,shape=0.7", (Random(mtbf=30 * DAY, shape=0.7),)),
            ("job_mtbf=1000d", (Random(job_mtbf=1000 * DAY),)),
            ("random:mtbf=3600", (Random(mtbf=HOUR),)),
            ("trace:a+b.csv", (Trace("a+b.csv"),)),
            ("trace:path=x.csv", (Trace("x.csv"),)),
            ("drain:node=3+4,at=36h,lasts=2h", (Drain(("3", "4"), 36 * HOUR, 2 * HOUR),)),
            ("mtbf=30d+drain:node=3+4,at=36h", (Random(mtbf=30 * DAY), Drain(("3", "4"), 36 * HOUR))),
            ("trace:x.csv + job_mtbf=10d", (Trace("x.csv"), Random(job_mtbf=10 * DAY))),
        ],
    )
    def test_a_spec_names_its_sources(self, spec, sources):
        assert failures_from_spec(spec) == sources

    @pytest.mark.parametrize(
        ("spec", "words"),
        [
            ("", ["empty failures spec"]),
            ("randum:mtbf=1d", ["no failures part is called 'randum'", "did you mean 'random'"]),
            ("mtbf=30x", ["'30x' is not a duration"]),
            ("mtbf=30d,mttr=4h", ["no parameter is called 'mttr'", "repair"]),
            ("drain:node=3", ["the parameter 'at' must be given"]),
            ("trace:", ["trace"]),
        ],
    )
    def test_a_bad_spec_is_refused_in_words(self, spec, words):
        with pytest.raises(BloxError) as caught:
            Timeline(failures_from_spec(spec), FOUR, seed=0)
        assert all(word in str(caught.value) for word in words), str(caught.value)

    def test_a_source_may_stand_in_a_file_of_your_own(self, tmp_path):
        (tmp_path / "mine.py").write_text(
            "from dataclasses import dataclass\n"
            "from blox.state.node_events import NodeEvent\n"
            "@dataclass(frozen=True)\n"
            "class Flood:\n"
            "    at: float\n"
            "    def node_events(self, cluster, seed):\n"
            "        return (NodeEvent(self.at, node, 'down') for node in range(len(cluster.nodes)))\n"
            "class Dry:\n"
            "    pass\n"
        )
        sources = failures_from_spec(f"{tmp_path}/mine.py:Flood:at=60+mtbf=30d")
        assert [event[1] for event in events(*sources, until=60.0)] == [0, 1, 2, 3]
        with pytest.raises(BloxError, match=r"Dry has no method node_events"):
            failures_from_spec(f"{tmp_path}/mine.py:Dry")


@dataclass(frozen=True)
class Hourly:
    """Node 0 is down for a minute every hour; rounds must not be longer than that."""

    def node_events(self, cluster, seed):
        for hour in itertools.count(1):
            yield NodeEvent(hour * HOUR, 0, "down")
            yield NodeEvent(hour * HOUR + 60.0, 0, "up")

    def check_round(self, round_s):
        if round_s > 60:
            raise BloxError(f"an outage of 60 s in a round of {round_s:g} s")


def test_any_source_may_refuse_rounds_and_none_is_asked_where_there_are_none(monkeypatch):
    monkeypatch.setattr(prepared, "failures_from_spec", lambda spec: (Hourly(),))
    settings = {"workload": "constant:jobs=3", "cluster": "4x8", "failures": "hourly"}
    with pytest.raises(BloxError, match="an outage of 60 s in a round of 300 s"):
        Experiment(**settings).prepare()
    Experiment(**settings, round_s=60.0).prepare()
    Experiment(**settings, clock="events").prepare()
