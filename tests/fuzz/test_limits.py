"""The limits of a case stop one that computes without end, and one that waits without end."""

import itertools
import signal
import time

import pytest

from fuzz.limits import TooSlow, limits


def test_a_case_that_computes_without_end_is_stopped():
    with pytest.raises(TooSlow, match=r"more than 0.1 s of computing"), limits(0.1):
        for _ in itertools.count():
            pass


def test_a_case_that_sleeps_is_stopped():
    with pytest.raises(TooSlow, match=r"more than 0.1 s of waiting"), limits(wall_seconds=0.1):
        time.sleep(5.0)


def test_a_case_that_takes_too_much_memory_is_stopped():
    with pytest.raises(MemoryError), limits(more_bytes=2**26):
        bytearray(2**30)


def test_nothing_is_left_of_the_limits():
    before = signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGVTALRM)
    with limits():
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGVTALRM)) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
