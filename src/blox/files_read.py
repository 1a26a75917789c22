"""FilesRead: which files a run was made from, beside those that its settings name: imported, or opened.

Python tells of every file that it opens (`sys.addaudithook`). What belongs to Python, to installed packages
or to blox does not count, nor what the run has written itself.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_NOT_OURS = ("/proc", "/sys", "/dev", "/etc", "/usr/share")
_noting: list[FilesRead] = []  # those that are told of files now
_hooked: list[bool] = []  # whether Python tells of them; a hook cannot be removed


class FilesRead:
    """The files that were opened to be read while `noting()`, each with its checksum at the end of that."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._written: set[str] = set()
        self._sums: dict[str, str] = {}

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Notes files while the code inside runs."""
        if not _hooked:
            _hooked.append(True)
            sys.addaudithook(_audit)
        _noting.append(self)
        try:
            yield
        finally:
            _noting.remove(self)
            self._sum_up()

    def opened(self, path: str, writes: bool) -> None:
        """A file was opened."""
        (self._written if writes else self._read).add(path)

    def named_by(self, parts: Iterable[object]) -> None:
        """Files that fields of parts name count too, also by default and however they are read.

        Parts that stand around others, such as a guard, are looked into.
        """
        for part in parts:
            fields = list(_values(part))
            for value in (*fields, *(inner for each in fields for inner in _values(each))):
                if isinstance(value, str | Path) and "." in str(value) and "\0" not in str(value):
                    self._read.add(os.path.abspath(value))

    def lines(self, leaving_out: Sequence[Path] = ()) -> list[str]:
        """`CHECKSUM  PATH` of every file, less some, as `sha256sum` writes them; paths count from here."""
        known = {str(path.resolve()) for path in leaving_out}
        here = Path.cwd()
        found = []
        for name, checksum in sorted(self._sums.items()):
            if name not in known:
                path = Path(name)
                shown = path.relative_to(here) if path.is_relative_to(here) else path
                found.append(f"{checksum}  {shown}")
        return found

    def _sum_up(self) -> None:
        ours = _prefixes()
        for name in self._read:
            with suppress(OSError, ValueError):
                path = Path(_source(name)).resolve()
                counts = path.is_file() and not str(path).startswith(ours) and name not in self._written
                if counts and str(path) not in self._sums:
                    self._sums[str(path)] = checksum_of(path)
        self._read.clear()


def _values(part: object) -> Iterable[object]:
    return () if isinstance(part, type) else getattr(part, "__dict__", {}).values()


def changed_since(lines: Any) -> list[str]:
    """The files of `lines()` that are not what they were."""
    found = []
    for line in lines if isinstance(lines, list) else ():
        checksum, _, name = str(line).partition("  ")
        try:
            same = checksum_of(Path(name)) == checksum
        except OSError:
            same = False
        if not same:
            found.append(name)
    return found


def checksum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _noting and isinstance(arguments[0], str):
        path, mode, flags = arguments
        writes = any(letter in mode for letter in "wax+") if mode else bool(flags & (os.O_WRONLY | os.O_RDWR))
        for each in _noting:
            each.opened(os.path.abspath(path), writes)


def _source(name: str) -> str:
    """The file that a compiled module was made from."""
    return importlib.util.source_from_cache(name) if name.endswith(".pyc") else name


def _prefixes() -> tuple[str, ...]:
    own = {sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(__file__).parent)}
    own |= {str(Path(path).resolve()) for path in own} | {os.path.dirname(os.__file__)}
    return (*(f"{path.rstrip('/')}/" for path in own if path.rstrip("/")), *_NOT_OURS)
