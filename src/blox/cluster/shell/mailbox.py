"""Mailbox: one thread that gives a state machine its inputs, one after the other, and its timer."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

Input = Callable[[], None]
_AT_ONCE = 256  # inputs that are taken together
_MOST = 20_000  # inputs that may wait


class Mailbox:
    """Any thread may `post`; `run` carries the inputs out in order until `close`."""

    def __init__(self) -> None:
        self._inputs: queue.SimpleQueue[Input | None] = queue.SimpleQueue()
        self._closed = False

    def __len__(self) -> int:
        """How many inputs wait."""
        return self._inputs.qsize()

    def post(self, act: Input) -> None:
        self._inputs.put(act)

    def offer(self, act: Input) -> bool:
        """Posts what came from outside. False: so many inputs wait that it was refused."""
        if self._inputs.qsize() >= _MOST:
            return False
        self._inputs.put(act)
        return True

    def close(self) -> None:
        """`run` ends after the present input."""
        self._closed = True
        self._inputs.put(None)

    def run(self, next_s: Callable[[], float], tick: Input, flush: Input) -> None:
        """Calls `tick` whenever the monotonic clock has reached `next_s()`.

        `flush` is called after every tick and after all inputs that were there together: what it costs to
        store and to send is paid once for all of them.
        """
        while not self._closed:
            left = next_s() - time.monotonic()
            if left <= 0:
                tick()
            else:
                self._take(min(left, 3600.0))
            flush()

    def _take(self, patience_s: float) -> None:
        """Carries out the inputs that are there; waits for the first."""
        try:
            act = self._inputs.get(timeout=patience_s)
            for _ in range(_AT_ONCE):
                if act is None:
                    return
                act()
                act = self._inputs.get_nowait()
        except queue.Empty:
            return
        if act is not None:
            act()
