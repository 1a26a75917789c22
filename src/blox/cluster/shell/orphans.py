"""Orphans: processes of ranks whose guard was killed before it could end them. They are found by their
environment, which every process of a rank inherits."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "BLOX_RANK_DIRECTORY"
_WAKE_S = 0.2
_EXITING = 0x4  # PF_EXITING, of the flags in /proc/PID/stat
_EXIT_S = 30.0  # for a process that cannot be told apart from ours to be gone


def kill_orphans(directory: Path) -> int:
    """Kills every process of a rank whose own directory is this one or below it; returns how many there were.

    Comes back when none is left. Guards count too: call it where none should live. A process that is exiting
    has no environment any more, by which to tell whose it is, but still holds its files and devices: those of
    this user are waited for, within limits.
    """
    killed: set[int] = set()
    while found := _processes(directory):
        _send(signal.SIGKILL, found)
        killed.update(found)
        time.sleep(0.01)
    until_s, exiting = time.monotonic() + _EXIT_S, _exiting()
    while exiting and time.monotonic() < until_s:
        time.sleep(0.01)
        exiting &= _exiting()
    return len(killed)


@contextlib.contextmanager
def waking(directory: Path) -> Iterator[None]:
    """Meanwhile, processes of ranks below a directory that are stopped are continued, again and again."""
    over = threading.Event()

    def wake() -> None:
        while not over.is_set():
            _send(signal.SIGCONT, _processes(directory))
            over.wait(_WAKE_S)

    thread = threading.Thread(target=wake, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _send(number: signal.Signals, processes: list[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


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


def _exiting() -> set[int]:
    """The processes of this user that are about to end, and have not done so."""
    found, own = set(), os.getuid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == own and _is_exiting(Path("/proc", name, "stat")):
                    found.add(int(name))
            except (OSError, IndexError, ValueError):
                continue  # it has ended
    return found


def _is_exiting(stat: Path) -> bool:
    """Whether a process has begun to exit, and any of its threads has not come to the end of that."""
    fields = stat.read_bytes().rpartition(b")")[2].split()  # from the state on: the name may hold anything
    state, flags, threads = fields[0], int(fields[6]), int(fields[17])
    return bool(flags & _EXITING) and (state not in b"ZX" or threads > 1)
