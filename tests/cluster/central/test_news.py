"""What a page that is kept up to date is told: everything once, then what has changed."""

import pytest

from blox.cluster.central import news
from blox.cluster.central.changes import Changes
from blox.cluster.central.records import Policies
from blox.cluster.protocol.messages import Cancel, SetNode, SetPolicies
from blox.cluster.protocol.outputs import Note
from blox.cluster.protocol.queries import InLine, Watch
from support.by_hand_cluster import Cluster, running


@pytest.fixture
def cluster():
    """Two nodes of two GPUs; job 1 runs on all, 2 and 3 wait."""
    made = Cluster(Policies(scheduler="fifo-priority"))
    made.report("a")
    made.report("b")
    made.submit(4, name="wide", user="ada", expected_s=60.0, priority=9.0)
    made.until(3.0)
    made.report("a", running(1))
    made.report("b", running(1))
    made.submit(2)
    made.submit(1, priority=1.0)
    made.until(6.0)
    return made


def watched(cluster, last=None, progress=False):
    query = Watch(progress=progress) if last is None else Watch(last.term, last.version, progress)
    return news.since(cluster.scheduler, query, cluster.now)


def test_the_first_answer_is_everything(cluster):
    found = watched(cluster)
    assert found.whole and not found.more and [row.job for row in found.jobs] == [1, 2, 3]
    wide = found.jobs[0]
    assert (wide.name, wide.user, wide.state, wide.held) == ("wide", "ada", "running", (0, 1, 2, 3))
    assert [(node.node, node.gpus, node.alive) for node in found.nodes] == [("a", 2, True), ("b", 2, True)]
    assert found.policies.scheduler == "fifo-priority" and found.progress is None
    assert [(event.event, event.fields.get("what")) for event in found.events][:2] == [
        ("node", "joined"),
        ("node", "joined"),
    ]


def test_then_only_what_has_changed(cluster):
    first = watched(cluster)
    cluster.report("a", running(1, iteration=7))
    quiet = watched(cluster, first)
    assert not quiet.whole and not quiet.jobs and quiet.nodes is None and not quiet.events
    assert watched(cluster, first, progress=True).progress == [(1, 7, -1)]
    cluster.ask(Cancel("c", 3))
    cluster.until(cluster.now + 3)
    later = watched(cluster, quiet)
    assert [(row.job, row.state) for row in later.jobs] == [(3, "cancelled")]
    assert any(event.fields.get("what") == "cancelled" for event in later.events)
    cluster.ask(SetNode("n", "b", "draining"))
    drained = watched(cluster, later)
    assert [node.state for node in drained.nodes] == ["up", "draining"] and not drained.jobs
    assert drained.version > later.version > first.version


def test_a_scheduler_that_has_started_again_tells_everything_anew(cluster):
    first = watched(cluster)
    cluster.restart()
    found = watched(cluster, first)
    assert found.whole and found.term == first.term + 1 and len(found.jobs) == 3
    assert found.nodes is not None and not any(node.alive for node in found.nodes)


def test_many_changes_come_in_parts_that_leave_none_out(cluster, monkeypatch):
    monkeypatch.setattr(news, "_MOST_JOBS", 2)
    for _ in range(7):
        cluster.submit(1)
    seen, last = set(), None
    for _ in range(20):
        last = watched(cluster, last)
        seen.update(row.job for row in last.jobs)
        if not last.more:
            break
    assert seen == set(range(1, 11)) and not last.more


def test_the_queue_is_in_the_order_of_the_policies(cluster):
    found = news.queue(cluster.scheduler, cluster.now)
    assert found.waiting == 2 and found.note == ""
    assert [(row.place, row.job, row.why) for row in found.rows] == [
        (1, 3, "needs 1 GPU, 0 free"),
        (2, 2, "needs 2 GPUs, 0 free"),
    ]
    assert all(isinstance(row, InLine) and row.cause == "capacity" for row in found.rows)
    cluster.submit(1)
    assert [row.job for row in news.queue(cluster.scheduler, cluster.now).rows] == [4, 3, 2]


def test_without_nodes_or_with_a_policy_that_fails_the_queue_is_by_submission(cluster, tmp_path):
    empty = Cluster(Policies())
    empty.submit(1)
    found = news.queue(empty.scheduler, 0.0)
    assert "no node has joined" in found.note and [row.job for row in found.rows] == [1]
    mine = tmp_path / "mine.py"
    mine.write_text("class Mine:\n    def schedule(self, *states):\n        raise ValueError('no idea')\n")
    cluster.ask(SetPolicies("p", scheduler=f"{mine}:Mine"))
    found = news.queue(cluster.scheduler, cluster.now)
    assert "no idea" in found.note and [row.job for row in found.rows] == [2, 3]


def test_versions_count_steps_that_change_something():
    changes = Changes([5, 6])
    assert changes.jobs_since(0, 10) == ([5, 6], 1)
    changes.note([], False, [], 1.0)
    assert changes.version == 1
    changes.note([5], False, [Note("job", {"job": 5})], 2.0)
    assert changes.jobs_since(1, 10) == ([5], 2) and changes.nodes == 1
    changes.note([7], True, [], 3.0)
    assert changes.jobs_since(1, 10) == ([5, 7], 3) and changes.nodes == 3
    changes.forget(5)
    assert changes.jobs_since(0, 10) == ([6, 7], 3)
    assert [event.at_s for event in changes.events_since(0, 9)] == [2.0]
