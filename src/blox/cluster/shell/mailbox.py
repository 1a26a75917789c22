"""Mailbox: one thread that gives a state machine its inputs, one after the other, and its timer."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

Input = Callable[[], None]


class Mailbox:
    """Any thread may `post`; `run` carries the inputs out in order until `close`."""

    def __init__(self) -> None:
        self._inputs: queue.SimpleQueue[Input | None] = queue.SimpleQueue()
        self._closed = False

    def post(self, act: Input) -> None:
        self._inputs.put(act)

    def close(self) -> None:
        """`run` ends after the present input."""
        self._closed = True
        self._inputs.put(None)

    def run(self, next_s: Callable[[], float], tick: Input) -> None:
        """Calls `tick` whenever the monotonic clock has reached `next_s()`."""
        while not self._closed:
            left = next_s() - time.monotonic()
            if left <= 0:
                tick()
                continue
            try:
                act = self._inputs.get(timeout=min(left, 3600.0))
            except queue.Empty:
                continue
            if act is not None:
                act()
