"""The watcher asks what has changed, bears a scheduler that is away, and spares one that nobody looks at."""

import json

import pytest
from msgspec.structs import replace

from blox.cluster.protocol.queries import QueueView
from blox.errors import BloxError
from blox.ui.live import watcher as watchers
from blox.ui.live.watcher import Watcher
from support.waiting import eventually
from ui.live.test_state import news, row


class Scripted:
    """A cluster that answers as it is told, and then always the last."""

    def __init__(self, *answers):
        self.answers, self.asked, self.queues = list(answers), [], 0

    def watch(self, last=None, *, progress=False, wait_s=0.0):
        self.asked.append((None if last is None else last.version, progress))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def queue(self):
        self.queues += 1
        return QueueView(self.queues, [])


@pytest.fixture
def watching(monkeypatch):
    """A function that starts a watcher of a scripted cluster and returns it with what it tells."""
    monkeypatch.setattr(watchers, "WATCHED_S", 0.01)
    monkeypatch.setattr(watchers, "_AWAY_S", 0.01)
    started = []

    def start(cluster, watched=True):
        told = []
        made = Watcher(cluster, lambda message: told.append((message[0], json.loads(message[1]))))
        if watched:
            made.watched.set()
        made.start()
        started.append(made)
        return told

    yield start
    for each in started:
        each.close()


def test_everything_comes_first_in_parts_where_it_is_much(watching):
    begin = replace(news(1, [row(1)], whole=True, nodes=[]), more=True)
    cluster = Scripted(begin, news(2, [row(2)]), news(2))
    told = watching(cluster)
    assert eventually(lambda: len(cluster.asked) > 3)
    assert [event for event, _ in told[:4]] == ["contact", "state", "news", "queue"]
    assert cluster.asked[0] == (None, True) and [version for version, _ in cluster.asked[1:4]] == [1, 2, 2]


def test_a_scheduler_that_does_not_answer_is_told_and_asked_again(watching):
    cluster = Scripted(news(1, whole=True, nodes=[]), BloxError("gone"), BloxError("gone"), news(2, [row(5)]))
    told = watching(cluster)
    assert eventually(lambda: any(event == "news" for event, _ in told))
    contacts = [data["ok"] for event, data in told if event == "contact"]
    assert contacts == [True, False, True], "told once each"


def test_the_queue_is_asked_for_when_something_has_changed(watching, monkeypatch):
    monkeypatch.setattr(watchers, "QUEUE_S", 0.0)
    monkeypatch.setattr(watchers, "_QUEUE_SHARE", 0.0)
    cluster = Scripted(news(1, whole=True, nodes=[]), news(1), news(1), news(2, [row(1)]), news(2))
    watching(cluster)
    assert eventually(lambda: len(cluster.asked) > 10)
    assert cluster.queues == 2


def test_nobody_looking_the_queue_is_not_asked_for(watching, monkeypatch):
    monkeypatch.setattr(watchers, "ALONE_S", 0.01)
    cluster = Scripted(news(1, whole=True, nodes=[]), news(2, [row(1)]))
    watching(cluster, watched=False)
    assert eventually(lambda: len(cluster.asked) > 5)
    assert cluster.queues == 0
