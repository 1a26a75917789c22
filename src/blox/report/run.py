"""Run: what the report reads of a result. `blox.results.Result` is one; so is any object of this shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]


class Run(Protocol):
    """A finished run: its name, its settings, its figures and its tables as columns (units: seconds)."""

    @property
    def label(self) -> str: ...
    @property
    def experiment(self) -> Mapping[str, Any]: ...
    @property
    def summary(self) -> Mapping[str, Any]: ...
    @property
    def jobs(self) -> Mapping[str, Array]: ...
    @property
    def rounds(self) -> Mapping[str, Array]: ...
    @property
    def stints(self) -> Mapping[str, Array]: ...
    @property
    def timing(self) -> Mapping[str, Any]: ...


def labels(runs: Sequence[Run]) -> list[str]:
    """One name per run, each different: runs that share a label are numbered in order."""
    names = [run.label or "run" for run in runs]
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(f"{name} ({seen[name]})" if names.count(name) > 1 else name)
    return unique


def legend_shape(names: Sequence[str], characters: int) -> tuple[int, int]:
    """Columns and lines of a legend that has room for so many characters in a line, marks included."""
    widest = max((len(name) for name in names), default=0) + 7  # the mark and the space around it
    columns = min(max(characters // widest, 1), max(len(names), 1))
    return columns, -(-len(names) // columns)
