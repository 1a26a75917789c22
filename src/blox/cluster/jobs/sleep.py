"""The job `sleep` of a replay: holds its slot for so many seconds. Stopped by SIGTERM, it goes on where it
was.

It runs on the standard library alone, so that it starts at once. Its progress is saved every second, so that
little is lost when it is killed.

    sleep.py SECONDS
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType

LEFT = 75  # the exit code of a job that is to go on later
_SAVE_S = 1.0


class Work:
    """Seconds of work, those of earlier stints included, as kept in a file by rank 0."""

    def __init__(self, file: str) -> None:
        self._file, self._began = file, time.monotonic()
        try:
            with open(file) as saved:
                self._before_s = float(saved.read())
        except FileNotFoundError:
            self._before_s = 0.0

    @property
    def done_s(self) -> float:
        return self._before_s + time.monotonic() - self._began

    def save(self) -> None:
        with open(f"{self._file}.half", "w") as half:
            half.write(repr(self.done_s))
        os.replace(f"{self._file}.half", self._file)


def main() -> None:
    total_s, leads = float(sys.argv[1]), os.environ["RANK"] == "0"
    work = Work(os.path.join(os.environ["BLOX_CHECKPOINT"], "done_s"))

    def leave(number: int, frame: FrameType | None) -> None:
        if leads:
            work.save()
        os._exit(LEFT)

    signal.signal(signal.SIGTERM, leave)
    while (left_s := total_s - work.done_s) > 0:
        time.sleep(min(left_s, _SAVE_S))
        if leads and left_s > _SAVE_S:
            work.save()


if __name__ == "__main__":
    main()
