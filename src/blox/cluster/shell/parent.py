"""A process that ends with its parent: the parent holds the other end of its standard input."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable


def call_when_parent_ends(act: Callable[[], None]) -> None:
    """Calls `act` from another thread when standard input is closed: by the parent, or by its death."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 64):
            pass
        act()

    threading.Thread(target=watch, daemon=True).start()
