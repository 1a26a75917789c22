"""The program of a child process: a job that does nothing but count the seconds in which it is active.

Started by file name, without site or environment, so it imports little and knows nothing of blox:

    python -I -S job_process.py WORK_S DONE_S BEGIN

It ends when it has been active for WORK_S real seconds, of which DONE_S are done already. It has been active
since BEGIN on the monotonic clock, which all processes of a machine share: starting is part of a job. SIGUSR1
suspends it and SIGUSR2 resumes it. It writes records to standard output when its state changes and twice a
second, so that a child that is killed loses no more than half a second. Standard input is its lifeline:
nothing is ever written there, and its end means that the scheduler is gone.
"""

# The C module: `signal` itself imports enum, which doubles the time of a start.
import _signal as signal  # type: ignore[import-not-found]
import os
import select
import struct
import sys
import time

SUSPEND: int = signal.SIGUSR1
RESUME: int = signal.SIGUSR2
RECORD = struct.Struct("=cdd")  # state, when (monotonic clock), active seconds until then
RUNNING, SUSPENDED, FINISHED = b"r", b"s", b"f"
BEAT_S = 0.5
_LIFELINE, _REPORT = 0, 1


def main(work_s: float, done_s: float, begin: float) -> int:
    """Runs to the end and returns 0; returns 1 when the scheduler is gone before."""
    signals, wake_up = os.pipe()
    os.set_blocking(signals, False)
    os.set_blocking(wake_up, False)
    signal.set_wakeup_fd(wake_up)
    for signum in (SUSPEND, RESUME):
        signal.signal(signum, lambda *_: None)
    running, since = True, begin
    while True:
        now = time.monotonic()
        active_s = done_s + (now - since if running else 0.0)
        if running and active_s >= work_s:
            _tell(FINISHED, since + (work_s - done_s), work_s)
            return 0
        _tell(RUNNING if running else SUSPENDED, now, active_s)
        timeout = min(BEAT_S, work_s - active_s) if running else None
        ready, _, _ = select.select((_LIFELINE, signals), (), (), timeout)
        if _LIFELINE in ready:
            return 1
        now = time.monotonic()
        if signals not in ready or (running and done_s + now - since >= work_s):
            continue  # work that was done before the signal is done: not suspended, finished
        for received in os.read(signals, 64):
            if received == SUSPEND and running:
                running, done_s = False, done_s + now - since
            elif received == RESUME and not running:
                running, since = True, now


def _tell(state: bytes, when: float, active_s: float) -> None:
    os.write(_REPORT, RECORD.pack(state, when, active_s))  # shorter than PIPE_BUF: never torn


if __name__ == "__main__":
    try:
        sys.exit(main(*(float(word) for word in sys.argv[1:])))
    except BrokenPipeError:  # the scheduler is gone
        os._exit(1)
