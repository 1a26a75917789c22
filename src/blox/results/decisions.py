"""Decisions: what every round of a traced run decided, as columns, and the round that held at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from blox.results import files
from blox.results.lazy_table import LazyTable
from blox.workloads.table import Array


class Decisions(LazyTable):
    """A row per executed round and job; docs/results.md names the columns."""

    def __init__(
        self, make: Callable[[], dict[str, Array]], find: Callable[[float], dict[str, Array]] | None = None
    ) -> None:
        """`find` reads one round without the others, where that is possible."""
        super().__init__(make)
        self._find = find

    def __reduce__(self) -> tuple[object, ...]:
        return (Decisions, (partial(dict, list(self.items())),))

    @classmethod
    def of_file(cls, path: Path, jobs: int) -> Decisions:
        """Those of a results directory."""
        read = partial(files.read_decisions, path, jobs)
        return cls(read, lambda time_s: read(at_s=time_s))

    def at(self, time_s: float) -> dict[str, Array]:
        """The last round that was executed at or before a time; no rows if there was none."""
        if self._find is not None:
            return self._find(time_s)
        times = self["time_s"]
        before = times[times <= time_s]
        here = times == (before.max() if len(before) else np.nan)
        return {name: column[here] for name, column in self.items()}
