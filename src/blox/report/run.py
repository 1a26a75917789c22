"""Run: what the report reads of a result. `Result` is one; so is any object of this shape."""

from __future__ import annotations

from collections.abc import Mapping
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
    @property
    def tables(self) -> Mapping[str, Mapping[str, Array]]: ...
