"""Large delimited files without quotation marks, read by duckdb: columns of text, and nothing else.

It reads what it can vouch for. A file with anything odd in it (a line with too few cells, bytes that are no
text) is left to `read_delimited`, which is slower and says what is wrong in which line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from blox.workloads.source_rows import SourceRows
from blox.workloads.text_files import MOST_BYTES

_HEADER_BYTES = 2**16
_NO_CELL = "\x01"  # stands in no text


def read_large(
    path: Path, wanted: Sequence[str], *, delimiter: str, names: Sequence[str], without_steps: str = ""
) -> SourceRows | None:
    """The wanted columns of a file whose first line is a header; None: read it another way.

    `names`: of all its columns. `without_steps`: lines whose cell in that column has a point are passed over,
    and a note says how many.
    """
    import duckdb

    if path.stat().st_size > MOST_BYTES or len(set(names)) < len(names) or "" in names[:-1]:
        return None
    present = [name for name in dict.fromkeys(wanted) if name in names]
    described = ", ".join(f"{_quoted(name or _NO_CELL)}: 'VARCHAR'" for name in names)
    options = f"delim={_quoted(delimiter)}, quote='', escape='', header=false, skip=1, auto_detect=false"
    cells = ", ".join(f"coalesce({_named(name)}, '') AS {_named(name)}" for name in present)
    source = f"read_csv({_quoted(str(path))}, {options}, columns={{{described}}})"
    numbered = f"SELECT row_number() OVER () + 1 AS {_named(_NO_CELL * 2)}, {cells} FROM {source}"
    chosen = f"WHERE NOT contains({_named(without_steps)}, '.')" if without_steps else ""
    try:
        with duckdb.connect() as connection:
            connection.execute("SET preserve_insertion_order = true")
            connection.execute(f"CREATE TEMP VIEW lines AS {numbered}")
            found = connection.execute(f"SELECT * FROM lines {chosen}").fetchnumpy()
            total = connection.execute(f"SELECT count(*) FROM {source}").fetchone()
    except duckdb.Error:
        return None
    lines = np.asarray(found.pop(_NO_CELL * 2))
    if not len(lines) or total is None or total[0] != _lines_in(path) - 1:
        return None  # blank lines, or line ends of two kinds: lines could not be told by their numbers
    rows = SourceRows(str(path), {name: np.asarray(cells) for name, cells in found.items()}, lines)  # type: ignore[misc]
    if passed := total[0] - len(lines):
        rows.notes.append(f"passed over {passed:,} lines of job steps")
    return rows


def first_line(path: Path) -> str | None:
    """The header of a plain file; None where it is packed, or no text."""
    with path.open("rb") as file:
        begin = file.readline(_HEADER_BYTES)
    try:
        return None if begin.startswith(b"\x1f\x8b") else begin.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        return None


def _lines_in(path: Path) -> int:
    """The lines of a file, the last one with or without its end."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while piece := file.read(2**20):
            count += piece.count(b"\n")
            last = piece[-1:]
    return count + (last != b"\n")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
