"""Text files as users have them: plain or gzipped, read whole, written all at once or not at all.

TOML and JSON too: whatever is wrong with such a file is told with its name, and none can take all memory.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import tomllib
import zlib
from collections.abc import Callable
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from blox.disk.whole_file import write_whole
from blox.errors import BloxError, sought

MOST_BYTES = 2**29  # of a trace, unpacked: the jobs of the largest public ones take half of it
MOST_TABLE_BYTES = 2**26
MOST_TOML_BYTES = 2**22  # a cluster of tens of thousands of nodes, each with a name


def user_path(path: str | Path) -> Path:
    """A path as users write it: `~` is a home. Raises BloxError where there is none."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise BloxError(str(error), where=str(path), fix="write the path without ~") from None


def require_file(path: str | Path) -> Path:
    """The path of a file that exists. Raises BloxError otherwise."""
    file = user_path(path)
    if not str(path):
        raise BloxError("the path of a file is missing", fix="give the path of the trace file")
    if file.is_dir():
        raise BloxError(
            "is a folder, not a file", where=str(path), fix="give the path of the trace file itself"
        )
    if not file.is_file():
        nearest = next((p for p in file.parents if p.is_dir()), Path())
        near = f"; the nearest folder that exists is {nearest}" if nearest != Path() else ""
        fix = f"check the path{near}{sought(str(path))}"
        raise BloxError("no such file", where=str(path), fix=fix)
    return file


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file; one that is gzipped is unpacked, whatever its name.

    Raises BloxError naming the file (and the line where there is one).
    """
    file = require_file(path)
    try:
        content = _unpacked(file) if _is_gzip(file) else _plain(file, MOST_BYTES)
    except OSError as error:
        raise BloxError(f"cannot be read: {error.strerror}", where=str(path)) from None
    text = _decoded(content, path)
    if (at := text.find("\0")) >= 0:
        line = text.count("\n", 0, at) + 1
        raise BloxError(
            "holds a NUL character, which no text does", where=f"{path}:{line}", fix="mend the line"
        )
    if text.startswith("version https://git-lfs"):
        raise BloxError(
            "is a Git LFS pointer, not the trace itself", where=str(path), fix="run `git lfs pull` there"
        )
    return text


def read_table(path: str | Path, *, fix: str, most: int = MOST_TABLE_BYTES) -> str:
    """The text of a smaller file, such as a table of profiles. `fix` says what file is wanted."""
    try:
        return _decoded(_plain(user_path(path), most), path)
    except FileNotFoundError:
        what = "cannot be read: no such file"
        raise BloxError(what, where=str(path), fix=f"{fix}{sought(str(path))}") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise BloxError(f"cannot be read: {_reason(error)}", where=str(path), fix=fix) from None


def read_cells(path: str | Path, *, fix: str) -> list[tuple[int, list[str]]]:
    """The lines of a small CSV, each with its number and its cells; those that begin with # are comments."""
    found = []
    for number, line in enumerate(read_table(path, fix=fix).splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                found.append((number, [cell.strip() for cell in next(csv.reader([line]))]))
            except csv.Error as error:
                raise BloxError(f"is not CSV: {error}", where=f"{path}:{number}", fix=fix) from None
    return found


def read_toml(path: str | Path, *, fix: str) -> dict[str, Any]:
    """A TOML file as a table. Raises BloxError, with `fix` for a file that is not what it should be."""
    text = read_table(path, fix=fix, most=MOST_TOML_BYTES)
    table: dict[str, Any] = parsed(tomllib.loads, text, kind="TOML", where=str(path), fix=fix)
    return table


def place_in(path: str | Path, table: str, key: str = "") -> str:
    """Where a table of a TOML file, or a key of it, stands: `mine.toml:7, [auto] every`.

    Without the line where the file does not show it: one that cannot be read, or a key in quotes.
    """
    words = f"[{table}] {key}" if key else table
    try:
        lines = _decoded(_plain(user_path(path), MOST_TOML_BYTES), path).splitlines()
    except (BloxError, OSError, ValueError):
        return f"{path}, {words}"
    within, found = "", 0
    for number, line in enumerate(lines, 1):
        if head := re.match(r"\s*\[([^\[\]]+)\]", line):
            within = head[1].strip()
        name = line.partition("=")[0].strip() if "=" in line else ""
        full = f"{within}.{name}".strip(".") if name else within
        if full == (f"{table}.{key}" if key else table):
            return f"{path}:{number}, {words}"
        if full == table and not found:
            found = number
    return f"{path}:{found}, {words}" if found else f"{path}, {words}"


def read_json(path: str | Path, *, fix: str) -> Any:
    """What a JSON file holds. Raises BloxError naming the file, and the line where there is one."""
    return parsed(json.loads, read_table(path, fix=fix), kind="JSON", where=str(path), fix=fix)


def parsed(parse: Callable[[str], Any], text: str, *, kind: str, where: str, fix: str) -> Any:
    """What `parse` makes of a text; whatever it cannot read is told in words."""
    try:
        return parse(text)
    except json.JSONDecodeError as error:
        raise BloxError(f"is not JSON: {error.msg}", where=f"{where}:{error.lineno}", fix=fix) from None
    except (ValueError, RecursionError) as error:
        raise BloxError(f"is not {kind}: {_reason(error)}", where=where, fix=fix) from None


def write_text(path: str | Path, text: str) -> None:
    """Writes a file whole or leaves what was there; a name ending in .gz is gzipped."""
    file = user_path(path)
    if not file.parent.is_dir():
        raise BloxError("no such folder", where=str(file.parent), fix=f"mkdir -p {file.parent}")
    content = text.encode()
    if file.suffix == ".gz":
        content = gzip.compress(content, mtime=0)  # no time stamp: the same jobs give the same bytes
    try:
        write_whole(file, content)
    except OSError as error:
        raise BloxError(f"cannot be written: {error.strerror}", where=str(file)) from None


def _is_gzip(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def _plain(file: Path, most: int) -> bytes:
    with file.open("rb") as stream:
        return _bounded(stream, file, most, "has")


def _bounded(stream: BufferedIOBase, file: Path, most: int, verb: str) -> bytes:
    """All that a stream has, piece by piece: memory is taken for what is there, not for the bound."""
    content = bytearray()
    while piece := stream.read(2**20):
        content += piece
        if len(content) > most:
            raise BloxError(
                f"{verb} more than {most // 2**20:,} MB",
                where=str(file),
                fix="give a part of it, in several files",
            )
    return bytes(content)


def _unpacked(file: Path) -> bytes:
    try:
        with gzip.open(file, "rb") as stream:
            return _bounded(stream, file, MOST_BYTES, "unpacks to")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BloxError(
            f"the gzip file is damaged: {error}", where=str(file), fix="fetch it again, or unpack it"
        ) from None


def _decoded(content: bytes, path: str | Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BloxError("is not UTF-8 text", where=f"{path}:{line}", fix="save the file as UTF-8") from None


def _reason(error: Exception) -> str:
    """What a parser could not read, without Python's advice to programmers."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "a number has thousands of digits" if "integer string conversion" in str(error) else str(error)
