"""The guard beside each rank: starts its command, and kills it and all its children when that is due.

Run as a script, by its path: it imports nothing but the standard library, so that it starts at once. It kills
when told to (`K` on standard input), when its worker manager is gone (standard input ends), and when the
node's lease has run out, even if the worker manager stands still. `T` passes SIGTERM on. The first line of
its standard output is the exit code of the command, and why it ended: `exit`, `killed` or `lost`; behind it
comes the last that the command printed. CLEANUP is a command in JSON, carried out when the other was killed:
the death of a container's client does not end the container.

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
_CHUNK = 1 << 16  # bytes of output that are taken together
_END = 4000  # bytes of output that the worker manager is told
_CUT = b"[...]\n%015d bytes are left out\n"  # how a log begins that has lost its beginning
CUT_BYTES = len(_CUT % 0)
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


def left_out(head: bytes) -> int:
    """How many bytes a log has lost that begins with these CUT_BYTES bytes; they stand in their place."""
    begin, number, end = head[:6], head[6:21], head[21:]
    known = number.isdigit() and (begin, end) == (_CUT[:6], _CUT[-len(end) :])
    return int(number) if known else 0


class Log:
    """What the command prints, in a file that never holds more than `most` bytes: the latest are kept.

    What cannot be written, on a full disk, is lost; the command goes on.
    """

    def __init__(self, path: str, most: int) -> None:
        self._path, self._most = path, most
        self._size = os.path.getsize(path) if os.path.exists(path) else 0
        self.end = b""  # its last bytes, also where they could not be written

    def write(self, text: bytes) -> None:
        self.end = (self.end + text)[-_END:]
        with contextlib.suppress(OSError):
            text = text[-self._most // 2 :]
            if self._size + len(text) > self._most:
                self._halve()
            with open(self._path, "ab") as file:
                file.write(text)
            self._size += len(text)

    def _halve(self) -> None:
        with open(self._path, "rb+") as file:
            before = left_out(file.read(CUT_BYTES))
            begin = file.seek(max(-self._most // 2, -self._size) + CUT_BYTES, os.SEEK_END)
            kept = file.read()
            file.seek(0)
            file.write(_CUT % (begin + before - (CUT_BYTES if before else 0)) + kept)
            file.truncate()
            self._size = file.tell()


def _begin_child(libc: ctypes.CDLL, guard: int) -> None:
    """In the child, before its command: it ends with its guard, and does not ignore what we ignore."""
    libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != guard:  # it has ended before that call
        os._exit(1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    lease, log_path, log_bytes, cleanup, *command = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    own = os.getpid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(lease, "rb") as file:
        until = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
    if time.monotonic() >= struct.unpack("d", until[:8])[0]:
        _tell("-1 lost", b"")
        return
    log = Log(log_path, int(log_bytes))
    printed, printing = os.pipe()
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printing,
            stderr=printing,
            start_new_session=True,
            preexec_fn=lambda: _begin_child(libc, own),
        )
    except OSError as error:
        log.write(f"blox: cannot start {command[0]}: {error.strerror}\n".encode())
        _tell("127 exit", log.end)
        return
    os.close(printing)
    why = _watch(child, until, printed, log)
    if why != "exit":
        child.send_signal(signal.SIGKILL)
    code = child.wait()
    _kill_all()
    while text := os.read(printed, _CHUNK):
        log.write(text)
    if why != "exit":
        _clean_up(json.loads(cleanup))
    _tell(f"{code} {why}", log.end)


def _watch(child: subprocess.Popen[bytes], until: mmap.mmap, printed: int, log: Log) -> str:
    """Waits for the end of the command, or for a reason to end it: `exit`, `killed` or `lost`."""
    ended, told = os.pidfd_open(child.pid), sys.stdin.fileno()
    inputs = [ended, told, printed]
    while True:
        left = struct.unpack("d", until[:8])[0] - time.monotonic()
        if left <= 0:
            return "lost"
        ready, _, _ = select.select(inputs, [], [], min(left, _LONGEST_S))
        if printed in ready:
            text = os.read(printed, _CHUNK)
            log.write(text)
            if not text:
                inputs.remove(printed)  # it has closed its output, and may go on
        if ended in ready:
            return "exit"
        if told in ready:
            if os.read(told, 1) != b"T":
                return "killed"
            os.killpg(child.pid, signal.SIGTERM)


def _tell(how: str, end: bytes) -> None:
    """How the command ended, and behind that line the last that it printed."""
    with contextlib.suppress(BrokenPipeError):  # the reader has gone
        os.write(sys.stdout.fileno(), f"{how}\n".encode() + end)


if __name__ == "__main__":
    main()
