"""A reader that knows everything waits until there is something new, and not for ever."""

import threading
import time

import pytest

from blox.cluster.protocol.queries import Watch
from blox.cluster.shell import watchers
from blox.cluster.shell.watchers import Watchers
from support.waiting import PATIENCE_S, eventually


@pytest.fixture
def made():
    found = Watchers()
    found.tell(1, 5)
    return found


def waiting(made, query):
    """A thread that waits."""
    thread = threading.Thread(target=made.wait, args=(query,), daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("query", [Watch(1, 4, wait_s=60.0), Watch(2, 5, wait_s=60.0), Watch(1, 5)])
def test_what_is_not_known_or_not_waited_for_is_answered_at_once(made, query):
    made.wait(query)


def test_a_reader_waits_until_something_changes(made):
    thread = waiting(made, Watch(1, 5, wait_s=60.0))
    assert eventually(lambda: made._waiting == 1)
    made.tell(1, 5)
    assert thread.is_alive()
    made.tell(1, 6)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_its_time_is_limited_whatever_it_asks_for(made, monkeypatch):
    monkeypatch.setattr(watchers, "LONGEST_S", 0.05)
    begin = time.monotonic()
    made.wait(Watch(1, 5, wait_s=1e9))
    assert time.monotonic() - begin < PATIENCE_S


def test_a_reader_too_many_is_answered_at_once(made, monkeypatch):
    monkeypatch.setattr(watchers, "MOST", 1)
    thread = waiting(made, Watch(1, 5, wait_s=60.0))
    assert eventually(lambda: made._waiting == 1)
    made.wait(Watch(1, 5, wait_s=60.0))
    made.tell(1, 6)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_no_reader_keeps_a_scheduler_from_ending(made):
    threads = [waiting(made, Watch(1, 5, wait_s=60.0)) for _ in range(3)]
    assert eventually(lambda: made._waiting == 3)
    made.close()
    for thread in threads:
        thread.join(PATIENCE_S)
    made.wait(Watch(1, 5, wait_s=60.0))
    assert not any(thread.is_alive() for thread in threads)
