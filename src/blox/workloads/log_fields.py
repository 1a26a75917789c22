"""Columns of accounting logs: times of which some are not known, and cells of which most are alike."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from blox.workloads.slurm_fields import UNKNOWN
from blox.workloads.source_rows import SourceRows, plain_number, seconds_of
from blox.workloads.table import Array

_STAMP = 19  # characters of YYYY-MM-DDTHH:MM:SS
_EARLIEST = 0.0  # no cluster has logged a job before 1970


def logged_times(rows: SourceRows, name: str, *, needed: bool = False) -> Array:
    """A column of dates, or of seconds since 1970, as seconds; nan where the log says `Unknown` or nothing.

    A fault where it says neither, and where it says nothing although it is `needed`.
    """
    cells = rows.text(name)
    found = _stamps(cells)
    if found is None:
        found = np.array([_seconds(cell) for cell in cells.tolist()], dtype=np.float64)
    wrong = rows.kept & (np.isinf(found) | (found < _EARLIEST) | (np.isnan(found) & needed))
    if wrong.any():
        rows.fault(wrong, lambda row: f"{name} is {cells[row]!r}", "write a time as YYYY-MM-DDTHH:MM:SS")
        rows.kept &= ~wrong
    return np.where(np.isfinite(found), found, np.nan)


def map_cells(rows: SourceRows, name: str, convert: Callable[[str], float], fix: str) -> Array:
    """A column by a function that raises ValueError for what it cannot read; equal cells are read once."""
    cells = rows.text(name).tolist()
    known = {cell: _converted(cell, convert) for cell in set(cells)}
    found = np.array([known[cell] for cell in cells], dtype=np.float64)
    wrong = rows.kept & np.isinf(found)
    if wrong.any():
        rows.fault(wrong, lambda row: f"{name} is {cells[row]!r}", fix)
        rows.kept &= ~wrong
    return np.where(np.isinf(found), np.nan, found)


def times_of_runs(rows: SourceRows, since: Array, start: Array, end: Array) -> dict[str, Array]:
    """Submission, real start and duration of jobs that have run; the others are left out.

    `since`: from when on a job could run; one that started before, by clocks that differ, waited for nothing.
    """
    rows.leave_out(np.isnan(start), "it never started")
    rows.leave_out(np.isnan(end), "it was still running")
    rows.leave_out(end <= start, "it ended when it started, or before")
    return {"submit_s": np.fmin(since, start), "logged_start_s": start, "duration_s": end - start}


def attempts(rows: SourceRows, ids: Array, start: Array) -> Array:
    """Ids under which every attempt of a requeued job is a job; a record that stands there twice counts once.

    Attempts are numbered by their start: 81, 81 (2), 81 (3).
    """
    names = ids.tolist()
    kept = np.flatnonzero(rows.kept)
    if len({names[row] for row in kept.tolist()}) == len(kept):
        return ids
    found, seen = ids.copy(), dict[str, list[float]]()
    again = np.zeros(len(rows), dtype=bool)
    attempts = 0
    for row in kept[np.argsort(start[kept], kind="stable")].tolist():
        starts = seen.setdefault(names[row], [])
        if starts and starts[-1] == start[row]:
            again[row] = True
            continue
        starts.append(float(start[row]))
        if len(starts) > 1 and names[row].strip():
            found[row] = f"{names[row]} ({len(starts)})"
            attempts += 1
    rows.leave_out(again, "the same record again")
    if attempts:
        rows.notes.append(f"{attempts:,} jobs are further attempts of others that were requeued")
    return found


def _stamps(cells: Array) -> Array | None:
    """All cells at once, where each is a date or a word for none; None: some are something else."""
    wide = cells.astype(f"U{_STAMP + 1}")
    dates = np.char.str_len(wide) == _STAMP
    if not {word.strip().lower() for word in set(wide[~dates].tolist())} <= UNKNOWN:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy only warns of a zone, and drops it
            seconds = wide[dates].astype("datetime64[s]").astype(np.int64)
    except (ValueError, UserWarning):
        return None
    found = np.full(len(cells), math.nan)
    found[dates] = seconds
    return found


def _seconds(cell: str) -> float:
    """One cell; inf: it is no time."""
    if cell.strip().lower() in UNKNOWN:
        return math.nan
    try:
        return plain_number(cell)
    except ValueError:
        return _converted(cell, seconds_of)


def _converted(cell: str, convert: Callable[[str], float]) -> float:
    try:
        return convert(cell)
    except (ValueError, OverflowError):
        return math.inf
