"""MetricsCollector: numbers that a training script tells the scheduler, by any name."""

from __future__ import annotations

import json
import math
import os
import time

_EVERY_S = 0.5  # between two writes
_MOST = 100  # names
_LONGEST_NAME = 100  # characters


class MetricsCollector:
    """The latest value of each name reaches the scheduler with the node's next report; policies read it by
    `job_state.metric(name)`. Rank 0's are taken; what other ranks push is ignored.

    A script may have several: the loader's own, and more. Outside of a cluster nothing is written.
    """

    def __init__(self) -> None:
        directory = os.environ.get("BLOX_RANK_DIRECTORY", "")
        self._file = os.path.join(directory, f"metrics-{id(self):x}.json") if directory else ""
        self._values: dict[str, float] = {}
        self._sums: dict[str, tuple[float, int]] = {}  # since the last write: total and count
        self._write_s = -math.inf

    def push(self, name: str, value: float) -> None:
        """Tells a number, also one of numpy or torch; written at most twice a second."""
        if name not in self._values:
            self._check(name)
        self._values[name] = float(value)
        if time.monotonic() >= self._write_s:
            self.flush()

    def push_mean(self, name: str, value: float) -> None:
        """Tells the mean of the numbers that were given since the last write, this one included."""
        total, count = self._sums.get(name, (0.0, 0))
        self._sums[name] = total, count = total + float(value), count + 1
        self.push(name, total / count)

    def flush(self) -> None:
        """Writes now. Numbers that are not finite are left out; a full disk is passed over in silence, for
        the next write says it all."""
        self._write_s = time.monotonic() + _EVERY_S
        self._sums.clear()
        if not self._file:
            return
        values = {name: value for name, value in self._values.items() if math.isfinite(value)}
        try:
            with open(f"{self._file}.half", "w", encoding="utf-8") as file:
                json.dump(values, file)
            os.replace(f"{self._file}.half", self._file)
        except OSError:
            return

    def _check(self, name: str) -> None:
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
            raise ValueError(f"a metric is called {name!r}: give a text of 1 to {_LONGEST_NAME} characters")
        if len(self._values) >= _MOST:
            raise ValueError(f"more than {_MOST} metrics: {name!r} is one too many")
