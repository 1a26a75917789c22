"""How much a client may ask of a server: so many messages a second, in bursts of a few seconds' worth."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RateLimit:
    """A bucket that fills with `per_s` tokens a second, up to `burst`; a message takes one."""

    def __init__(self, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_s = per_s
        self._burst, self._clock = burst, clock
        self._tokens, self._filled_s = burst, clock()
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Whether one more message may come now."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self._burst, self._tokens + self.per_s * (now - self._filled_s))
            self._filled_s = now
            if self._tokens < 1.0:
                return False
            self._tokens -= 1.0
            return True
