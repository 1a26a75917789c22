"""The supervisor of a cluster on one machine: starts a scheduler and worker managers, and starts again what
dies.

`python -m blox.cluster.shell.supervisor DIRECTORY --nodes 4 --gpus 4`. Its children hold the other end of a
pipe from it, and end with it, whatever it dies of.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import msgspec

from blox.cluster.protocol.timing import Timing
from blox.cluster.shell.parent import call_when_parent_ends
from blox.cluster.shell.place import Place, Settings
from blox.errors import refusal

_AGAIN_S = 0.5  # before a child that died is started again
_END_S = 10.0  # for children that were told to end
_LINES = 5  # of what a scheduler that cannot start has printed


class Child:
    """A process that is started again whenever it ends."""

    def __init__(self, module: str, arguments: list[str], log: Path) -> None:
        self._log_path, self._log_start = log, log.stat().st_size if log.exists() else 0
        self._command = [sys.executable, "-m", f"blox.cluster.shell.{module}", *arguments]
        self._log: IO[bytes] = open(log, "ab")  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None
        self._start_s = 0.0

    @property
    def ended(self) -> bool:
        """Whether the process was started, and runs no longer."""
        return self._process is not None and self._process.poll() is not None

    def said(self) -> str:
        """The end of what it has printed since it was first started."""
        with open(self._log_path, "rb") as file:
            file.seek(self._log_start)
            printed = file.read().decode(errors="replace")
        return "\n".join(printed.strip().splitlines()[-_LINES:])

    def look(self) -> None:
        """Starts the process if it does not run."""
        if self._process is not None and not self.ended:
            return
        if time.monotonic() < self._start_s:
            return
        self._start_s = time.monotonic() + _AGAIN_S
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=self._log, stderr=self._log, start_new_session=True
        )

    def end(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def wait(self, until_s: float) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(max(0.0, until_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()


def _claimed(place: Place) -> IO[str]:
    """The file with our number, locked as long as we live: no other cluster starts here meanwhile.

    Exits at once where another supervisor holds the lock.
    """
    while True:
        file = open(place.supervisor_file, "a+", encoding="utf-8")  # noqa: SIM115
        if _locked(file) and _is_at(place.supervisor_file, file):
            break
        file.close()
        time.sleep(0.05)
    file.truncate(0)
    file.write(f"{os.getpid()} {socket.gethostname()}")
    file.flush()
    return file


def _locked(file: IO[str]) -> bool:
    """Takes the lock. False: another process tests it, which is over soon."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        pass
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # refused by a supervisor, not by a test
        return False
    except BlockingIOError:
        sys.exit("another supervisor runs here")


def _is_at(path: Path, file: IO[str]) -> bool:
    """Whether an open file is still the one at its path: a supervisor that ends removes its own."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--timing", default="{}")
    parser.add_argument("--policies", default="{}")
    parser.add_argument("--address", default="127.0.0.1:0", help="of the scheduler; nodes take another port")
    parser.add_argument("--central", action="store_true")
    parser.add_argument("--attached", action="store_true", help="end when standard input does")
    try:
        _run(parser.parse_args())
    except OSError as error:
        if (refused := refusal(error)) is None:
            raise
        sys.exit(refused.text())


def _run(options: argparse.Namespace) -> None:
    """Until it is told to end, or the scheduler cannot start."""
    place = Place.of(options.directory)
    logs = place.logs
    logs.mkdir(exist_ok=True)
    own = _claimed(place)
    place.address_file.unlink(missing_ok=True)
    place.keep_settings(Settings(msgspec.json.decode(options.timing, type=Timing), options.central))
    if options.nodes:
        place.keep_gpus(options.gpus)
    told = [str(place.root), "--address", options.address]
    told += ["--timing", options.timing, "--policies", options.policies]
    scheduler = Child("scheduler_process", told, logs / "scheduler.log")
    children = [scheduler, *_workers(place, options)]
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: ending.append(number))
    signal.signal(signal.SIGINT, lambda number, frame: ending.append(number))
    if options.attached:
        call_when_parent_ends(lambda: ending.append(0))
    failed = False
    while not (ending or failed):
        for child in children:
            child.look()
        time.sleep(0.1)
        # What has never answered does not start, and would not the next time; later it is started again.
        failed = scheduler.ended and not place.address_file.exists()
    _end(children)
    place.address_file.unlink(missing_ok=True)
    place.supervisor_file.unlink(missing_ok=True)
    own.close()
    if failed:
        sys.exit(scheduler.said() or "the scheduler ended without a word: is the disk full?")


def _workers(place: Place, options: argparse.Namespace) -> list[Child]:
    """The worker managers of the nodes."""
    children = []
    for number in range(options.nodes):
        arguments = [
            str(place.root),
            f"node-{number}",
            str(options.gpus),
            "--address",
            f"{options.address.rpartition(':')[0]}:0",
            "--timing",
            options.timing,
            *(["--central"] if options.central else []),
        ]
        children.append(Child("worker_process", arguments, place.logs / f"node-{number}.log"))
    return children


def _end(children: list[Child]) -> None:
    """Ends the nodes, then the scheduler; kills what does not end in time."""
    for child in reversed(children):
        child.end()
    until_s = time.monotonic() + _END_S
    for child in children:
        child.wait(until_s)


if __name__ == "__main__":
    main()
