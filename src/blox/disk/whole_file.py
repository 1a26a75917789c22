"""Files that are there whole or not at all: written under another name, then put in place in one step.

Drafts have names that cannot be foreseen, never follow a link, and get the permissions that the user's umask
gives. What a killed process leaves behind is removed by the next one that writes the same file.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from blox.disk.file_lock import lock_handle
from blox.errors import BloxError

_NAME_KEPT = 80  # characters of the name that a draft repeats: names have an end


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file in one go; text is UTF-8. A link of that name is replaced, not followed.

    Raises OSError naming the file, and BloxError where something else than a file has its name.
    """
    if path.exists() and not path.is_file():
        raise BloxError("is there already, and no file", where=str(path), fix="give the name of a file")
    _clear_drafts(path)
    content = content.encode() if isinstance(content, str) else content
    with naming(path):
        draft, handle = _new_draft(path)
        try:
            with os.fdopen(handle, "wb") as file:  # the lock lasts as long as the file is open
                file.write(content)
                file.flush()
                os.replace(draft, path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """What the system refuses in here is told with this path: a full disk does not say which file it was."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def _new_draft(path: Path) -> tuple[Path, int]:
    """A new file beside `path`, open and locked."""
    while True:
        draft = path.with_name(f".{path.name[:_NAME_KEPT]}.{secrets.token_hex(8)}.part")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        if lock_handle(handle) and os.fstat(handle).st_nlink:
            return draft, handle
        os.close(handle)  # another process took it for a leftover before it was locked


def _clear_drafts(path: Path) -> None:
    """Removes drafts of this file that no process has open any more."""
    pattern = re.compile(rf"\.{re.escape(path.name[:_NAME_KEPT])}\.[0-9a-f]{{16}}\.part")
    with contextlib.suppress(OSError):
        for entry in path.parent.iterdir():
            if pattern.fullmatch(entry.name) and not entry.is_symlink():
                handle = os.open(entry, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    if lock_handle(handle):
                        entry.unlink()
                finally:
                    os.close(handle)
