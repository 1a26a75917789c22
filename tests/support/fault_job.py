"""The job of the tests of faults: works for so many seconds, and keeps records of its own life.

A process locks its slot, and a file of its own under its job's epoch, as long as it lives, which the kernel
ends with it, however it dies. One that finds its slot, or another epoch of its job, locked by a live process,
writes that down: no scheduler's record is needed to know it. Run by its path, on the standard library alone.
UNTIL: works on until this file is there; its checkpoints have PADDING_BYTES more.

    fault_job.py RECORDS SECONDS [PADDING_BYTES [UNTIL]]
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time

LEFT = 75
STEP_S = 0.02
SAVE_S = 0.2  # between two checkpoints


def lock(path: str, kind: int) -> bool:
    """Locks a file for as long as this process lives; False: a live process has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return False
    return True  # the handle stays open


class Records:
    """A file of lines of this process; each is written at once."""

    def __init__(self, directory: str) -> None:
        environment = os.environ
        self.job, self.epoch = int(environment["BLOX_JOB"]), int(environment["BLOX_EPOCH"])
        self.rank, self.slot = int(environment["RANK"]), environment["CUDA_VISIBLE_DEVICES"]
        self.node = environment["BLOX_RANK_DIRECTORY"].split("/")[-2]
        self._directory = directory
        name = f"{self.job}-{self.epoch}-{self.rank}-{os.getpid()}.jsonl"
        self._file = os.open(os.path.join(directory, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, what: str, **fields: object) -> None:
        line = {"what": what, "at": time.monotonic(), "job": self.job, "epoch": self.epoch, "rank": self.rank}
        line.update({"node": self.node, "slot": self.slot, "pid": os.getpid()}, **fields)
        os.write(self._file, json.dumps(line).encode() + b"\n")

    def claim(self) -> None:
        """Locks slot and epoch, and notes what is wrong.

        A process locks its own file for itself alone, and looks at those of others with a shared lock: any
        number may look at once, and find it locked only if its owner lives.
        """
        own = f"epoch-{self.job}-{self.epoch}"
        if not lock(os.path.join(self._directory, f"slot-{self.node}-{self.slot}"), fcntl.LOCK_EX):
            self.note("violation", why="the slot has a live process")
        mine = os.open(os.path.join(self._directory, f"{own}.{os.getpid()}"), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(mine, fcntl.LOCK_EX)  # waits for one who is looking; the handle stays open
        for name in os.listdir(self._directory):
            epoch, _, process = name.partition(".")
            if not process.isdigit() or not epoch.startswith(f"epoch-{self.job}-") or epoch == own:
                continue
            if int(epoch.rpartition("-")[2]) > self.epoch:
                self.note("violation", why=f"{epoch} has started before this one")
            handle = os.open(os.path.join(self._directory, name), os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                self.note("violation", why=f"{epoch} is alive")
            os.close(handle)


def main() -> None:
    records, total_s = Records(sys.argv[1]), float(sys.argv[2])
    padding = b"x" * (int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    until = sys.argv[4] if len(sys.argv) > 4 else ""
    records.claim()
    checkpoint = os.path.join(os.environ["BLOX_CHECKPOINT"], "done.json")
    before_s = 0.0
    if os.path.exists(checkpoint):
        with open(checkpoint) as file:
            before_s = json.loads(file.readline())["done_s"]
    began = time.monotonic()
    records.note("start", done_s=before_s)

    def save() -> None:
        if records.rank:
            return
        with open(f"{checkpoint}.half", "wb") as half:
            half.write(json.dumps({"done_s": before_s + time.monotonic() - began}).encode() + b"\n" + padding)
            half.flush()
            os.fsync(half.fileno())
        os.replace(f"{checkpoint}.half", checkpoint)

    def leave(number: int, frame: object) -> None:
        save()
        records.note("left", done_s=before_s + time.monotonic() - began)
        os._exit(LEFT)

    signal.signal(signal.SIGTERM, leave)
    saved_s = began
    while (now := time.monotonic()) - began + before_s < total_s or (until and not os.path.exists(until)):
        if now - saved_s >= SAVE_S:
            save()
            saved_s = now
        time.sleep(STEP_S)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    records.note("done", done_s=total_s)


if __name__ == "__main__":
    main()
