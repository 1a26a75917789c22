"""Reply: what the thread of a server waits for, and the thread of the mailbox gives."""

from __future__ import annotations

import threading
from typing import Any

from blox.cluster.shell.wire import Busy

PATIENCE_S = 5.0  # by then an input is carried out, or its sender is told to ask again


class Reply:
    def __init__(self) -> None:
        self._given = threading.Event()
        self._answer: Any = None

    def give(self, answer: Any) -> None:
        self._answer = answer
        self._given.set()

    def wait(self) -> Any:
        if not self._given.wait(PATIENCE_S):
            raise Busy("the scheduler is busy: ask again; a request is carried out once")
        return self._answer
