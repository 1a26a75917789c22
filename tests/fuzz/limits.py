"""Time and memory that a case may take: one that takes more is a fault, not a slow test."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS, WALL_SECONDS, BYTES = 5.0, 60.0, 2**30


class TooSlow(BaseException):
    """A case has taken longer than it may; not an Exception, so that nothing in blox catches it."""


@contextmanager
def limits(
    seconds: float = SECONDS, more_bytes: int = BYTES, *, wall_seconds: float = WALL_SECONDS
) -> Iterator[None]:
    """Raises TooSlow after so many seconds of computing, MemoryError where more memory is asked for.

    `wall_seconds` is for a case that sleeps or waits: it is many times as long, since other processes may
    keep the machine busy.
    """
    address_space = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    with (
        _alarm(signal.SIGVTALRM, signal.ITIMER_VIRTUAL, seconds, "of computing"),
        _alarm(signal.SIGALRM, signal.ITIMER_REAL, wall_seconds, "of waiting"),
    ):
        most = pages * resource.getpagesize() + more_bytes
        try:
            resource.setrlimit(resource.RLIMIT_AS, (most, address_space[1]))
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, address_space)


@contextmanager
def _alarm(number: signal.Signals, timer: int, seconds: float, spent: str) -> Iterator[None]:
    """Raises TooSlow when the timer has run for so many seconds."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {seconds:g} s {spent}")

    before = signal.signal(number, stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
