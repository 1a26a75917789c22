"""What jobs have pushed over time: a file per job, beside its logs, that does not grow without bound.

`jobs/ID/metrics.jsonl`: a line of JSON per second in which anything changed, with the wall clock (s), the
iteration and the numbers. It outlives the job's processes, and goes on when the job does.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path

from blox.cluster.shell.place import Place

FILE = "metrics.jsonl"
_EVERY_S = 1.0  # between two lines of a job
_LARGEST = 512 << 10  # bytes of a file; then every second line is left out


class Curves:
    """Writes the files of the jobs whose lead runs on this node. A full disk is passed over in silence."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._last: dict[int, tuple[float, Mapping[str, float]]] = {}  # when written, and what

    def note(self, job: int, iteration: int, metrics: Mapping[str, float]) -> None:
        """The latest numbers of a job. Called often: what has been written is not written again."""
        written_s, before = self._last.get(job, (0.0, {}))
        now = time.time()
        if not metrics or metrics is before or now < written_s + _EVERY_S:
            return
        self._last[job] = now, metrics
        with contextlib.suppress(OSError):
            self._append(self._place.job(job) / FILE, [round(now, 3), iteration, dict(metrics)])

    def forget(self, job: int) -> None:
        """The job does not run here any more."""
        self._last.pop(job, None)

    def _append(self, file: Path, line: list[object]) -> None:
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
            size = stream.tell()
        if size > _LARGEST:
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            half = file.with_suffix(".half")
            half.write_text("".join(lines[::2]), encoding="utf-8")
            half.replace(file)
