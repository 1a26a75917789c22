"""The guard beside each rank: starts its command, and kills it and all its children when that is due.

Run as a script, by its path: it imports nothing but the standard library, so that it starts at once. It kills
when told to (`K` on standard input), when its worker manager is gone (standard input ends), and when the
node's lease has run out, even if the worker manager stands still. `T` passes SIGTERM on. The last line of its
standard output is the exit code of the command, and why it ended: `exit`, `killed` or `lost`. CLEANUP is a
command in JSON, carried out when the other was killed: the death of a container's client does not end the
container.

    guard.py LEASE LOG LOG_BYTES CLEANUP COMMAND...
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import select
import signal
import struct
import subprocess
import sys
import time

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: children of children become ours, and none escapes
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG: the command ends with its guard
_LONGEST_S = 0.5  # between two looks at the lease
_CLEANUP_S = 30.0


def _descendants() -> list[int]:
    """Every process whose ancestor we are."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            parents.setdefault(parent, []).append(int(name))
    found, todo = [], [os.getpid()]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def _kill_all() -> None:
    """Kills every descendant, also those that are started meanwhile, and waits for them."""
    while True:
        for process in _descendants():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _clean_up(command: list[str]) -> None:
    if command:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_CLEANUP_S)


def _trim(log: str, most: int) -> None:
    """Keeps the second half of a log that has grown too long."""
    if os.path.getsize(log) > most:
        with open(log, "rb+") as file:
            file.seek(-most // 2, os.SEEK_END)
            kept = file.read()
            file.seek(0)
            file.write(b"[...]\n" + kept)
            file.truncate()


def _begin_child(libc: ctypes.CDLL) -> None:
    """In the child, before its command: it ends with its guard, and does not ignore what we ignore."""
    libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    lease, log, log_bytes, cleanup, command = *sys.argv[1:3], int(sys.argv[3]), sys.argv[4], sys.argv[5:]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(lease, "rb") as file:
        until = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
    if time.monotonic() >= struct.unpack("d", until[:8])[0]:
        print("-1 lost", flush=True)
        return
    with open(log, "ab") as output:
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=lambda: _begin_child(libc),
            )
        except OSError as error:
            output.write(f"blox: cannot start {command[0]}: {error.strerror}\n".encode())
            print("127 exit", flush=True)
            return
    ended, why, told = os.pidfd_open(child.pid), "exit", sys.stdin.fileno()
    while True:
        left = struct.unpack("d", until[:8])[0] - time.monotonic()
        if left <= 0:
            why = "lost"
            break
        ready, _, _ = select.select([ended, told], [], [], min(left, _LONGEST_S))
        if ended in ready:
            break
        if told in ready:
            word = os.read(told, 1)
            if word == b"T":
                os.killpg(child.pid, signal.SIGTERM)
                continue
            why = "killed"
            break
        _trim(log, log_bytes)
    if why != "exit":
        child.send_signal(signal.SIGKILL)
    code = child.wait()
    _kill_all()
    if why != "exit":
        _clean_up(json.loads(cleanup))
    _trim(log, log_bytes)
    with contextlib.suppress(BrokenPipeError):  # nobody is left to be told
        os.write(sys.stdout.fileno(), f"{code} {why}\n".encode())


if __name__ == "__main__":
    main()
