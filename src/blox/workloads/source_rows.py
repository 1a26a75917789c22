"""SourceRows: the rows of a trace file as columns of text, turned into numbers with every fault noted.

A reader asks for its columns by name and says which rows it leaves out and why. Faults are collected,
with their lines, not raised one by one: reading raises the first of them, the validator lists them all.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from blox.errors import BloxError, found_name, found_names, suggestion
from blox.workloads.columns import LARGEST_WHOLE, Array
from blox.workloads.text_files import read_text


@dataclass(frozen=True, order=True)
class Problem:
    """Something wrong in one line of a file."""

    line: int
    what: str
    fix: str

    def error(self, source: str, more: int = 0) -> BloxError:
        """The problem as the error that reading raises; `more` counts the others."""
        others = f"; {more} more: `blox workload validate` lists them all" if more else ""
        return BloxError(self.what, where=f"{source}:{self.line}", fix=self.fix + others)


class SourceRows:
    """Rows of a source with their line numbers; `kept` marks those not left out so far."""

    def __init__(
        self, source: str, columns: Mapping[str, Sequence[str]], lines: Sequence[int] | Array
    ) -> None:
        self.source = source
        self.columns = columns
        self.lines = np.asarray(lines, dtype=np.int64)
        self.kept = np.ones(len(self.lines), dtype=bool)
        self.faulty = np.zeros(len(self.lines), dtype=bool)
        self.problems: list[Problem] = []
        self.notes: list[str] = []

    def __len__(self) -> int:
        return len(self.lines)

    def has(self, name: str) -> bool:
        """Whether the source has a column of that name."""
        return name in self.columns

    def text(self, name: str) -> Array:
        """A column as text, one object per row."""
        array = np.empty(len(self), dtype=object)
        array[:] = self._cells(name)
        return array

    def number(self, name: str, *, default: float | None = None, least: float = -math.inf) -> Array:
        """A column as finite numbers; an empty cell is `default`, or a fault where there is none.

        `least` is for columns that are not ours: the range of our own columns is checked later.
        """
        values = self._converted(name, float, default, "write a number")
        low = values < least
        self.fault(
            self.kept & low,
            lambda row: _wrong_cell(name, self._cells(name)[row]),
            f"{name} must be {least:g} or more",
        )
        values[low] = math.nan
        return values

    def whole(self, name: str, *, default: float | None = None) -> Array:
        """A column as whole numbers (in a float array, so that faults can be NaN)."""
        values = self.number(name, default=default)
        large = np.abs(values) > LARGEST_WHOLE
        for wrong, fix in (
            (np.isfinite(values) & (values != np.floor(values)), f"{name} must be a whole number"),
            (large, f"{name} must be a whole number of at most 15 digits"),
        ):
            self.fault(self.kept & wrong, lambda row: _wrong_cell(name, self._cells(name)[row]), fix)
            values[wrong] = math.nan
        return values

    def time(self, name: str) -> Array:
        """A column of dates and times as seconds since 1970 UTC; a time without a zone is taken as UTC."""
        return self._converted(name, seconds_of, None, "write a time as YYYY-MM-DD HH:MM:SS")

    def empty(self, name: str) -> Array:
        """Which rows have nothing, or a word for nothing (null, None, NaN), in that column."""
        blank = {"", "null", "none", "nan", "nat"}
        cells = self._cells(name)
        return np.fromiter((c.strip().lower() in blank for c in cells), dtype=bool, count=len(cells))

    def leave_out(self, which: Array, why: str) -> None:
        """Drops rows; a note says how many and why."""
        dropped = int(np.count_nonzero(which & self.kept))
        if dropped:
            self.kept &= ~which
            self.notes.append(f"left out {dropped:,} {'job' if dropped == 1 else 'jobs'}: {why}")

    def fault(self, which: Array, what: Callable[[int], str], fix: str) -> None:
        """Notes a problem in each of the rows, in words that `what` makes of the row."""
        for row in np.flatnonzero(which).tolist():
            self.problems.append(Problem(int(self.lines[row]), what(row), fix))
        self.faulty |= which

    def _cells(self, name: str) -> Sequence[str]:
        if name not in self.columns:
            raise MissingColumn(self.source, name, list(self.columns))
        return self.columns[name]

    def _converted(
        self, name: str, convert: Callable[[str], float], default: float | None, fix: str
    ) -> Array:
        cells = self._cells(name)
        if convert is float and not _all_plain(cells):
            convert = plain_number
        try:  # nearly every file takes this path: no cell is empty, none is wrong
            values = np.fromiter(map(convert, cells), dtype=np.float64, count=len(cells))
        except (ValueError, OverflowError):
            values = np.full(len(cells), math.nan)
            for row, cell in enumerate(cells):
                if not cell.strip() and default is not None:
                    values[row] = default
                    continue
                with contextlib.suppress(ValueError, OverflowError):
                    values[row] = convert(cell)
        wrong = self.kept & ~np.isfinite(values)
        if default is not None and not math.isfinite(default) and wrong.any():
            wrong &= np.fromiter((bool(c.strip()) for c in cells), dtype=bool, count=len(cells))
        if wrong.any():
            self.fault(wrong, lambda row: _wrong_cell(name, cells[row]), fix)
            values[wrong] = math.nan
        return values


def read_delimited(
    path: str,
    *,
    required: Sequence[str],
    delimiter: str = ",",
    header: Sequence[str] | None = None,
    text: str | None = None,
    quotes: bool = True,
) -> SourceRows:
    """The rows of a delimited file; blank lines are skipped.

    Without `header` its first line names the columns; `text` is given where the file has been read already.
    `quotes=False`: a quotation mark is a character like any other.
    Raises BloxError for a missing column (naming those present) and for an empty file; a row with too few or
    too many cells is a problem of that line.
    """
    if text is None:
        text = read_text(path)
    names, rows, lines = _cells(path, text, delimiter, header, required, quotes=quotes)
    if names is None or (header is not None and not rows):
        raise BloxError("the file is empty", where=path, fix=f"it needs the columns {', '.join(required)}")
    ragged = [row for row, cells in enumerate(rows) if len(cells) != len(names)]
    told = {row: _cells_in_line(rows[row], len(names)) for row in ragged}
    for row in ragged:
        rows[row] = (rows[row] + [""] * len(names))[: len(names)]
    columns = dict(zip(names, map(list, zip(*rows)))) if rows else {name: [] for name in names}
    table = SourceRows(path, columns, lines)
    if ragged:
        mask = np.zeros(len(table), dtype=bool)
        mask[ragged] = True
        table.fault(mask, lambda row: told[row], f"give {len(names)}")
        table.kept &= ~mask  # its cells cannot be trusted to stand under their names
    return table


def _cells(
    path: str,
    text: str,
    delimiter: str,
    header: Sequence[str] | None,
    required: Sequence[str],
    *,
    quotes: bool,
) -> tuple[list[str] | None, list[list[str]], list[int]]:
    """The names of the columns (None: there is no line at all), the cells of every row, and its line."""
    lines_of_text = io.StringIO(text, newline="")
    if quotes:
        reader = csv.reader(lines_of_text, delimiter=delimiter)
    else:
        reader = csv.reader(lines_of_text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    names = None if header is None else list(header)
    rows: list[list[str]] = []
    lines: list[int] = []  # where each row begins: a cell in quotes may go over several
    begins, last = 1, 1
    try:
        for cells in reader:
            begins, last = last, reader.line_num + 1
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if names is None:
                names = [c.strip() for c in cells]
                _check_header(path, reader.line_num, names, required)
                continue
            rows.append(cells)
            lines.append(begins)
    except csv.Error as error:
        raise BloxError(
            f"cannot be read as delimited text: {error}",
            where=f"{path}:{reader.line_num}",
            fix="open the file and mend that line",
        ) from None
    if quotes and last - begins > 1 and text.count('"') % 2:
        raise BloxError(
            "a quotation mark is opened in this line and never closed",
            where=f"{path}:{begins}",
            fix="close it, or write two where one is meant",
        )
    return names, rows, lines


def plain_number(cell: str) -> float:
    """A number as data files write it. Python's own `1_000` and digits of other scripts are ValueErrors."""
    if "_" in cell or not cell.isascii():
        raise ValueError(cell)
    return float(cell)


def _all_plain(cells: Sequence[str]) -> bool:
    together = "".join(cells)
    return "_" not in together and together.isascii()


def seconds_of(cell: str) -> float:
    """Seconds since 1970 UTC of `YYYY-MM-DD HH:MM:SS`, with or without a zone. Raises ValueError."""
    moment = datetime.fromisoformat(cell.strip())
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class MissingColumn(BloxError):
    """A column that a file should have is not there; those that it has are named, and kept in `present`."""

    def __init__(self, source: str, name: str, present: Sequence[str], hint: str = "") -> None:
        near = hint or suggestion(name, present).partition("valid:")[0].strip()
        here = f"columns present: {found_names(present)}" if present else "no columns are present"
        fix = f"{here}{'; ' + near if near else ''}"
        super().__init__(f"the column {name!r} is missing", where=f"{source}:1", fix=fix)
        self.name, self.present = name, tuple(present)
        self._given = source, name, self.present, hint

    def __reduce__(self) -> tuple[object, ...]:
        return (MissingColumn, self._given)


def _check_header(path: str, line: int, names: list[str], required: Sequence[str]) -> None:
    for name in required:
        if name not in names:
            raise MissingColumn(path, name, names)
    seen: set[str] = set()
    for name in names:
        if name in seen:
            what = f"the column {found_name(name)!r} is there twice" if name else "two columns have no name"
            raise BloxError(what, where=f"{path}:{line}", fix="name each column once")
        seen.add(name)


def _cells_in_line(cells: Sequence[str], wanted: int) -> str:
    count = f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'}"
    if any("\n" in cell for cell in cells):
        return (
            f"this line and those behind it are one row of {count}, {wanted} wanted: a quotation mark is open"
        )
    return f"{count} in this line, {wanted} wanted"


def _wrong_cell(name: str, cell: str) -> str:
    return f"{name} is {cell!r}" if cell.strip() else f"{name} is empty"
