"""A process that ends with its parent, which holds the other end of its standard input, and as a whole."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable

from blox.errors import BloxError


def call_when_parent_ends(act: Callable[[], None]) -> None:
    """Calls `act` from another thread when standard input is closed: by the parent, or by its death."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 64):
            pass
        act()

    threading.Thread(target=watch, daemon=True).start()


def run_to_end(run: Callable[[], None]) -> None:
    """Runs the loop of a process. If it fails the whole process ends at once, whatever its other threads do:
    its supervisor starts it again, and it goes on from what is stored."""
    try:
        run()
        return
    except BloxError as error:
        print(error.text(), file=sys.stderr, flush=True)
    except BaseException:
        traceback.print_exc()
    os._exit(1)
