"""Watcher: asks the scheduler what has changed, is answered as soon as anything has, and tells the pages."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Protocol

from blox.cluster.protocol.queries import News, QueueView
from blox.errors import BloxError
from blox.ui.live.state import LiveState, Message

WATCHED_S, ALONE_S = 0.05, 2.0  # at least, between two questions: while a page is open, and while none is
PROGRESS_S = 2.0  # between two questions how far jobs have come
QUEUE_S = 1.0  # at least, between two questions about the queue, which cost the scheduler most
_QUEUE_SHARE = 20.0  # and this many times as long as the last one took
_AWAY_S = 0.5  # between two tries while the scheduler does not answer


class Cluster(Protocol):
    """What is asked of a cluster's client."""

    def watch(self, last: News | None = None, *, progress: bool = False, wait_s: float = 0.0) -> News: ...
    def queue(self) -> QueueView: ...


class Watcher:
    """Runs in a thread of its own. `tell` is called from there with every message for the pages."""

    def __init__(self, cluster: Cluster, tell: Callable[[Message], None]) -> None:
        self._cluster, self._tell = cluster, tell
        self.state = LiveState()
        self.lock = threading.Lock()  # around the state
        self.watched = threading.Event()  # whether a page is open
        self._ending = threading.Event()
        self._progress_s = self._queue_s = 0.0
        self._queued_at = (0, 0)  # term and version of the last queue

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True, name="watcher").start()

    def close(self) -> None:
        self._ending.set()
        self.watched.set()

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self._look()
                wait_s = WATCHED_S if self.watched.is_set() else ALONE_S
            except BloxError as error:
                with self.lock:
                    lost = self.state.contact(error.text())
                self._say(lost)
                wait_s = _AWAY_S
            # A page that is opened is answered before the next question is due.
            if wait_s == ALONE_S:
                self.watched.wait(wait_s)
            else:
                self._ending.wait(wait_s)

    def _look(self) -> None:
        now = time.monotonic()
        progress = now >= self._progress_s
        if progress:
            self._progress_s = now + PROGRESS_S
        # The scheduler answers when something has changed, or when there is something else to be asked for.
        patient = self.watched.is_set() and not progress
        wait_s = min(self._progress_s, self._queue_due_s()) - now if patient else 0.0
        news = self._cluster.watch(self.state.last, progress=progress, wait_s=max(0.0, wait_s))
        self._learn(news)
        while news.more:
            news = self._cluster.watch(news)
            self._learn(news)
        if self.watched.is_set() and time.monotonic() >= self._queue_due_s():
            self._ask_queue(news)

    def _queue_due_s(self) -> float:
        """When the queue is to be asked for; never, where it is that of the latest news."""
        last = self.state.last
        stale = last is not None and self._queued_at != (last.term, last.version)
        return self._queue_s if stale else math.inf

    def _ask_queue(self, news: News) -> None:
        begin = time.monotonic()
        queue = self._cluster.queue()
        took = time.monotonic() - begin
        self._queue_s = begin + max(QUEUE_S, _QUEUE_SHARE * took)
        self._queued_at = news.term, news.version
        with self.lock:
            changed = self.state.stand(queue)
        self._say(changed)

    def _learn(self, news: News) -> None:
        with self.lock:
            messages = self.state.contact(""), self.state.learn(news)
        for message in messages:
            self._say(message)

    def _say(self, message: Message | None) -> None:
        if message is not None:
            self._tell(message)
