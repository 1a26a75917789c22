"""Tests wait for what they look at, far longer than it takes: a machine may be busy, or stand still for
seconds."""

import time

PATIENCE_S = 300.0  # before a test gives up


def eventually(holds, within_s=PATIENCE_S):
    """Waits until something holds, and returns what it gave; what it gave last if it never does."""
    until = time.monotonic() + within_s
    while not (held := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return held
