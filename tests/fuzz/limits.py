"""Time and memory that a case may take: one that takes more is a fault, not a slow test."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS, BYTES = 5.0, 2**30


class TooSlow(BaseException):
    """A case has taken longer than it may; not an Exception, so that nothing in blox catches it."""


@contextmanager
def limits(seconds: float = SECONDS, more_bytes: int = BYTES) -> Iterator[None]:
    """Raises TooSlow after so many seconds of computing, MemoryError where more memory is asked for."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    address_space = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more_bytes, address_space[1]))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, address_space)
        signal.signal(signal.SIGVTALRM, before)
