"""Gittins indices from a sample of job sizes: how much completing a job promises per unit of service.

The index of a job that has attained `a` is the supremum over quanta q of P(S - a <= q) / E[min(S - a, q)],
given S > a. For a finite sample the supremum is reached where a sample ends, so it is a maximum.
"""

from __future__ import annotations

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import Array
from blox.workloads.text_files import read_cells


class GittinsIndex:
    """The index over a sample of sizes, exact for that sample; 0 beyond the largest.

    Between two sizes the index only rises, since the ends come nearer; it can fall only where a size is
    passed. `falls_to` finds that place.
    """

    def __init__(self, samples: Array) -> None:
        self.sizes, counts = np.unique(np.asarray(samples, dtype=np.float64), return_counts=True)
        self._counts: Array = np.concatenate(([0], np.cumsum(counts)))  # of the samples below each size
        self._sums: Array = np.concatenate(([0.0], np.cumsum(self.sizes * counts)))
        self.at_sizes: Array = np.array([self._one(size) for size in self.sizes.tolist()])

    def __call__(self, attained: Array) -> Array:
        """The index of each attained service."""
        found, where = np.unique(attained, return_inverse=True)
        return np.array([self._one(each) for each in found.tolist()], dtype=np.float64)[where]

    def falls_to(self, attained: Array, level: float) -> Array:
        """At which service each job's index, as it is served, first falls to `level` or below; inf: never."""
        low = np.append(self.sizes[self.at_sizes <= level], np.inf)
        found: Array = low[low.searchsorted(attained, side="right")]
        return found

    def _one(self, attained: float) -> float:
        first = int(self.sizes.searchsorted(attained, side="right"))
        if first == len(self.sizes):
            return 0.0
        quantum = self.sizes[first:] - attained
        ended = self._counts[first + 1 :] - self._counts[first]
        # a job that ends within the quantum is served what it has left, any other the whole quantum
        served = self._sums[first + 1 :] - self._sums[first] - attained * ended
        served += quantum * (ended[-1] - ended)
        # no job is served less than the smallest quantum, whatever the differences of large sums say
        return float((ended / np.maximum(served, quantum[0] * ended[-1])).max())


def read_samples(path: str) -> Array:
    """Sizes, ascending, from a CSV file with a column `duration` (the Tiresias simulator's format)."""
    rows = read_cells(path, fix="give the file of sizes: distribution=path/to/yarn-gput1000.csv")
    names = rows[0][1] if rows else []
    if "duration" not in names:
        raise BloxError("no column is called 'duration'", where=path, fix="its first line must name it")
    at = names.index("duration")
    return _sorted([(number, cells[at] if at < len(cells) else None) for number, cells in rows[1:]], path)


def _sorted(cells: list[tuple[int, str | None]], path: str) -> Array:
    samples = []
    for line, cell in cells:
        try:
            samples.append(float(cell or ""))
        except ValueError:
            samples.append(-1.0)
        if not 0 < samples[-1] < float("inf"):
            raise BloxError(
                f"duration is {cell!r}", where=f"{path}, line {line}", fix="a size is a number above 0"
            )
    if not samples:
        raise BloxError("no sizes in the file", where=path, fix="give at least one line")
    return np.sort(np.array(samples))
