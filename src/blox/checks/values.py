"""Values that policies return: what each is, in words, and whether it is an array of whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.checks.broken import Broken
from blox.workloads.table import Array


def kind_of(value: Any) -> str:
    """What a value is, and how it begins."""
    return "None" if value is None else f"{type(value).__name__} ({str(value)[:40]})"


def first(values: Array, wrong: Array) -> int | None:
    """The first of the values that is wrong; None if none is."""
    return int(values[int(np.argmax(wrong))]) if wrong.any() else None


def whole_numbers(values: Any, name: str, fix: str) -> Array:
    """`values` as int64, if they are an array of whole numbers; raises Broken otherwise."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "iu":
        what = kind_of(values)
        if isinstance(values, np.ndarray):
            what = "a mask" if values.dtype == bool else f"an array of {values.dtype}: {str(values)[:40]}"
        raise Broken(f"{name} are {what}, not an array of whole numbers", fix=fix, rule="answer")
    if values.dtype == np.uint64:
        raise Broken(
            f"{name} are uint64, which numpy does not mix with other whole numbers",
            fix="convert them: .astype(np.int64)",
            rule="answer",
        )
    return values.astype(np.int64, copy=False)
