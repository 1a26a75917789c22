"""Watchers: readers whose question is answered when something has changed, not before."""

from __future__ import annotations

import threading

from blox.cluster.protocol.queries import Watch

LONGEST_S = 10.0  # that a reader may wait
MOST = 8  # that wait at once, each on a thread of the server; further ones are answered at once


class Watchers:
    """`wait` is called on threads of the server, `tell` and `close` on that of the scheduler."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._now = (0, 0)  # term and version
        self._waiting = 0
        self._closed = False

    def close(self) -> None:
        """Readers wait no longer: the scheduler ends."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def tell(self, term: int, version: int) -> None:
        """What is stored has this version."""
        if self._now != (term, version):
            with self._changed:
                self._now = term, version
                self._changed.notify_all()

    def wait(self, query: Watch) -> None:
        """Returns when there is something that the reader does not know, or its time is over."""
        known = query.term, query.version
        with self._changed:
            if query.wait_s <= 0 or self._waiting >= MOST:
                return
            self._waiting += 1
            try:
                self._changed.wait_for(
                    lambda: self._closed or self._now != known, min(query.wait_s, LONGEST_S)
                )
            finally:
                self._waiting -= 1
