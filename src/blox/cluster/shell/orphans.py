"""Orphans: processes of ranks whose guard was killed before it could end them. They are found by their
environment, which every process of a rank inherits."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

VARIABLE = "BLOX_RANK_DIRECTORY"


def kill_orphans(directory: Path) -> int:
    """Kills every process of a rank whose own directory is this one or below it; returns how many there were.

    Comes back when none is left. Guards count too: call it where none should live.
    """
    killed: set[int] = set()
    while found := _processes(directory):
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        killed.update(found)
        time.sleep(0.01)
    return len(killed)


def _processes(directory: Path) -> list[int]:
    wanted, found = f"{VARIABLE}={directory}".encode(), []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                variables = Path("/proc", name, "environ").read_bytes().split(b"\0")
            except OSError:
                continue  # it has ended, or is another user's
            if any(each == wanted or each.startswith(wanted + b"/") for each in variables):
                found.append(int(name))
    return found
