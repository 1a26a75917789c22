"""The job of a replay: holds its slot for so many seconds. Stopped by SIGTERM, it goes on where it was.

Run as a script, by its path, on the standard library alone: it starts at once.

    replay_job.py SECONDS
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType

LEFT = 75  # the exit code of a job that is to go on later


def main() -> None:
    began, total_s = time.monotonic(), float(sys.argv[1])
    file = os.path.join(os.environ["BLOX_CHECKPOINT"], "done_s")
    leads = os.environ["RANK"] == "0"
    try:
        with open(file) as saved:
            before_s = float(saved.read())
    except FileNotFoundError:
        before_s = 0.0

    def leave(number: int, frame: FrameType | None) -> None:
        if leads:
            with open(f"{file}.half", "w") as half:
                half.write(repr(before_s + time.monotonic() - began))
            os.replace(f"{file}.half", file)
        os._exit(LEFT)

    signal.signal(signal.SIGTERM, leave)
    while (left_s := total_s - before_s - (time.monotonic() - began)) > 0:
        time.sleep(left_s)


if __name__ == "__main__":
    main()
