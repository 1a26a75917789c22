"""What a page is told of a cluster: everything once, then what has changed, each piece once."""

import json

from blox.cluster.protocol.queries import Happening, InLine, JobRow, News, NodeRow, PoliciesView, QueueView
from blox.ui.live import state as states
from blox.ui.live.state import JOB_COLUMNS, LiveState

FIFO = PoliciesView("accept-all", "fifo", "first-free", 0.0, 10.0, "")


def row(job, state="waiting", held=(), end_s=None):
    return JobRow(job, f"job {job}", "ada", "", 1, state, held, 0.0, end_s, 1, 0, -1, -1, None)


def news(number, jobs=(), *, whole=False, nodes=None, policies=FIFO, events=(), progress=None, now_s=0.0):
    return News(1, number, whole, False, now_s, 5.0, list(jobs), nodes, policies, list(events), progress)


def first(jobs=(), nodes=()):
    made = LiveState()
    made.learn(news(1, jobs, whole=True, nodes=list(nodes)))
    return made


def told(message):
    return message[0], json.loads(message[1])


def jobs_in(found):
    at = JOB_COLUMNS.index("state")
    return {job[0]: job[at] for job in found["jobs"]}


def test_a_page_that_opens_is_told_everything():
    made = first([row(1, "running", (0,)), row(2)], [NodeRow("a", 2, "gpu", "up", True)])
    found = json.loads(made.snapshot())
    assert jobs_in(found) == {1: "running", 2: "waiting"} and found["nodes"] == [["a", 2, "gpu", "up", True]]
    assert found["policies"]["scheduler"] == "fifo" and found["origin_s"] == 5.0
    assert found["history"] == [[0.0, 1, 2, 1, 1]]


def test_then_what_has_changed():
    made = first([row(1), row(2)])
    event, found = told(made.learn(news(2, [row(2, "running", (1,))], now_s=0.5)))
    assert event == "news" and jobs_in(found) == {2: "running"} and found["nodes"] is None
    assert jobs_in(json.loads(made.snapshot())) == {1: "waiting", 2: "running"}
    assert made.learn(news(2, now_s=0.6)) is None
    _, found = told(made.learn(news(3, events=[Happening(1.0, "node", {"node": "b"})], now_s=0.7)))
    assert found["events"] == [[1.0, "node", {"node": "b"}]]
    other = PoliciesView("accept-all", "las", "first-free", 0.0, 10.0, "")
    _, found = told(made.learn(news(3, policies=other, now_s=0.8)))
    assert found["policies"]["scheduler"] == "las"


def test_news_are_numbered_so_that_a_snapshot_is_not_told_twice():
    made = first([row(1)])
    before = json.loads(made.snapshot())["number"]
    _, found = told(made.learn(news(2, [row(1, "running", (0,))])))
    assert found["number"] == before + 1 == json.loads(made.snapshot())["number"]


def test_progress_is_told_of_jobs_that_have_come_further():
    made = first([row(1, "running", (0,)), row(2, "running", (1,))])
    _, found = told(made.learn(news(1, progress=[(1, 7, 5), (2, -1, -1), (9, 1, 1)], now_s=0.1)))
    assert found["progress"] == [[1, 7, 5]] and found["jobs"] == []
    assert made.learn(news(1, progress=[(1, 7, 5)], now_s=0.2)) is None
    at = JOB_COLUMNS.index("iteration")
    assert [job[at] for job in json.loads(made.snapshot())["jobs"]] == [7, -1]


def test_a_scheduler_that_started_again_voids_what_was_known():
    made = first([row(1), row(2)])
    event, found = told(made.learn(news(1, [row(2)], whole=True, nodes=[])))
    assert event == "state" and jobs_in(found) == {2: "waiting"}


def test_the_history_has_a_point_every_two_seconds():
    made = first([row(1, "running", (0, 1)), row(2)], [NodeRow("a", 4, "gpu", "up", True)])
    assert made.learn(news(1, now_s=1.9)) is None
    _, found = told(made.learn(news(1, now_s=2.0)))
    assert found["sample"] == [2.0, 2, 4, 1, 1]
    assert len(json.loads(made.snapshot())["history"]) == 2


def test_of_jobs_that_have_ended_the_latest_are_kept(monkeypatch):
    monkeypatch.setattr(states, "_MOST_ENDED", 2)
    made = first([row(n, "finished", end_s=1.0) for n in range(1, 6)] + [row(6)])
    assert set(jobs_in(json.loads(made.snapshot()))) == {4, 5, 6}


def test_queue_and_contact_are_told_when_they_change():
    made = first()
    queue = QueueView(1, [InLine(3, 1, (2.5,), "capacity", "needs 1 GPU, 0 free")])
    assert told(made.stand(queue))[1]["rows"] == [[3, 1, [2.5], "capacity", "needs 1 GPU, 0 free"]]
    assert made.stand(queue) is None
    assert told(made.contact(""))[1]["ok"] is True
    assert made.contact("") is None
    assert told(made.contact("no answer"))[1]["why"] == "no answer"
    assert json.loads(made.snapshot())["contact"]["ok"] is False


def test_contact_tells_when_the_scheduler_answered_last():
    made = LiveState()
    assert told(made.contact("no route"))[1]["at"] is None, "it never has"
    heard = told(made.contact(""))[1]["at"]
    lost = told(made.contact("no answer"))[1]["at"]
    assert heard <= lost == told(made.contact("no route"))[1]["at"], "another reason is no answer"
