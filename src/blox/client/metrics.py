"""MetricsCollector: numbers that a training script tells the scheduler, by any name."""

from __future__ import annotations

import json
import math
import os
import time

_EVERY_S = 0.5  # between two writes
_MOST = 100  # names


class MetricsCollector:
    """The latest value of each name reaches the scheduler with the node's next report; policies read it by
    `job_state.metric(name)`. Rank 0's are taken; what other ranks push is ignored."""

    def __init__(self) -> None:
        directory = os.environ.get("BLOX_RANK_DIRECTORY", "")
        self._file = os.path.join(directory, "metrics.json") if directory else ""
        self._values: dict[str, float] = {}
        self._written_s = -math.inf

    def push(self, name: str, value: float) -> None:
        """Tells a number; written at most twice a second."""
        if name not in self._values and len(self._values) >= _MOST:
            raise ValueError(f"more than {_MOST} metrics")
        self._values[name] = float(value)
        if time.monotonic() - self._written_s >= _EVERY_S:
            self.flush()

    def flush(self) -> None:
        self._written_s = time.monotonic()
        if self._file:
            with open(f"{self._file}.new", "w") as file:
                json.dump({name: value for name, value in self._values.items() if math.isfinite(value)}, file)
            os.replace(f"{self._file}.new", self._file)
