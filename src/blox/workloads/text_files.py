"""Text files as users have them: plain or gzipped, read whole, written all at once or not at all."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from blox.errors import BloxError, sought
from blox.whole_file import write_whole


def require_file(path: str | Path) -> Path:
    """The path of a file that exists. Raises BloxError otherwise."""
    file = Path(path).expanduser()
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
    try:
        content = require_file(path).read_bytes()
    except OSError as error:
        raise BloxError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise BloxError(
                f"the gzip file is damaged: {error}", where=str(path), fix="fetch it again, or unpack it"
            ) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BloxError("is not UTF-8 text", where=f"{path}:{line}", fix="save the file as UTF-8") from None
    if text.startswith("version https://git-lfs"):
        raise BloxError(
            "is a Git LFS pointer, not the trace itself", where=str(path), fix="run `git lfs pull` there"
        )
    return text


def write_text(path: str | Path, text: str) -> None:
    """Writes a file whole or leaves what was there; a name ending in .gz is gzipped."""
    file = Path(path).expanduser()
    if not file.parent.is_dir():
        raise BloxError("no such folder", where=str(file.parent), fix=f"mkdir -p {file.parent}")
    content = text.encode()
    if file.suffix == ".gz":
        content = gzip.compress(content, mtime=0)  # no time stamp: the same jobs give the same bytes
    try:
        write_whole(file, content)
    except OSError as error:
        raise BloxError(f"cannot be written: {error.strerror}", where=str(file)) from None
