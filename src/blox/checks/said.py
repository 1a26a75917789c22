"""What the optional methods of a policy may return: `figures`, `job_columns`, `wait_reasons`."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from blox.checks.broken import Broken
from blox.state.jobs import JobState
from blox.workloads.extra import COUNTED
from blox.workloads.table import Array


def figures(answer: Any, job_state: JobState) -> dict[str, float]:
    """Numbers by name."""
    found = _by_name(answer, "figures", '{"name": number}')
    for name, value in found.items():
        if not isinstance(value, numbers.Real | np.number):
            raise _broken(f"figures() returns {value!r} as {name!r}", "give a number for every name")
    return found


def job_columns(answer: Any, job_state: JobState) -> dict[str, Array]:
    """Arrays by name, each with a value for every submitted job."""
    found = _by_name(answer, "job_columns", '{"name": array}')
    rows = job_state.submitted
    for name, value in found.items():
        if not isinstance(value, np.ndarray) or value.shape != (rows,):
            shape = value.shape if isinstance(value, np.ndarray) else type(value).__name__
            raise _broken(
                f"job_columns() returns {shape} as {name!r}, and {rows} jobs have been submitted",
                "give arrays with one value per row: [: job_state.submitted] of a column",
            )
        if name in COUNTED and not np.can_cast(value.dtype, COUNTED[name], "same_kind"):
            raise _broken(
                f"job_columns() returns {value.dtype} as {name!r}, a column of {np.dtype(COUNTED[name])}",
                f"convert it: .astype(np.{np.dtype(COUNTED[name])}); or rename it: my_{name}",
            )
    return found


def wait_reasons(answer: Any, rows: Array) -> str | list[str]:
    """One text for all rows, or one per row."""
    if isinstance(answer, str):
        return answer
    texts = answer.tolist() if isinstance(answer, np.ndarray) else answer
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        kind = type(answer).__name__
        raise _broken(
            f"wait_reasons() returns {kind}, not texts", 'return one text, or [text, ""], one per row'
        )
    if len(texts) != len(rows):
        raise _broken(
            f"wait_reasons() returns {len(texts)} texts for {len(rows)} rows",
            'give one text per row, "" where there is nothing to tell, or one text for all',
        )
    return list(texts)


SAID: dict[str, Callable[[Any, JobState], dict[str, Any]]] = {"figures": figures, "job_columns": job_columns}


def _by_name(answer: Any, verb: str, example: str) -> dict[str, Any]:
    if not isinstance(answer, Mapping) or not all(isinstance(name, str) for name in answer):
        raise _broken(f"{verb}() returns {type(answer).__name__}, not a dict by name", f"return {example}")
    return dict(answer)


def _broken(what: str, fix: str) -> Broken:
    return Broken(what, fix=fix, rule="optional")
