"""CodedDecisions: the decisions of a whole run in little memory, to look at one round after another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from blox.results import files
from blox.workloads.table import Array

_BY_ROUND = ("time_s", "free_gpus", "largest_free")  # the same in every row of a round


class CodedDecisions:
    """Columns of `decisions.parquet`, texts as small numbers. `at` answers like `Decisions.at`, at once."""

    def __init__(self, columns: Mapping[str, Array], words: Mapping[str, list[str]]) -> None:
        """`words`: for each column of texts, which it holds as numbers, the texts."""
        time_s = columns["time_s"]
        first = np.flatnonzero(np.diff(time_s, prepend=-np.inf) != 0)
        self.time_s = time_s[first]
        self._ends = np.append(first, len(time_s))
        self._of_round = {name: columns[name][first] for name in _BY_ROUND}
        self._columns = {name: values for name, values in columns.items() if name not in _BY_ROUND}
        self._words = {name: np.array(texts, dtype=object) for name, texts in words.items()}

    @classmethod
    def of_file(cls, path: Path, jobs: int) -> CodedDecisions:
        """Those of a results directory; BloxError where the file is damaged."""
        return cls(*files.read_coded_decisions(path, jobs))

    def at(self, time_s: float) -> dict[str, Array]:
        """The last round that was executed at or before a time; no rows if there was none."""
        index = int(self.time_s.searchsorted(time_s, side="right")) - 1
        first, last = (self._ends[index], self._ends[index + 1]) if index >= 0 else (0, 0)
        found = {name: values[first:last] for name, values in self._columns.items()}
        for name, texts in self._words.items():
            found[name] = texts[found[name]] if last > first else np.empty(0, dtype=object)
        for name, values in self._of_round.items():
            found[name] = np.full(last - first, values[index] if index >= 0 else 0)
        return found
