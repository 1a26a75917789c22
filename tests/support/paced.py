"""Runs a script whose own pauses are long while a file is there: one who looks late still finds it running.

python paced.py FILE SCRIPT ARGUMENTS...
"""

import os
import runpy
import sys
import time

LONGER_S = 0.5


def main() -> None:
    slow, *sys.argv = sys.argv[1:]
    pause = time.sleep

    def sleep(seconds: float) -> None:
        own = sys._getframe(1).f_globals["__name__"] == "__main__"  # not one of a library
        pause(seconds + LONGER_S if own and os.path.exists(slow) else seconds)

    time.sleep = sleep
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
