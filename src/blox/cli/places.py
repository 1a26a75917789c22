"""Where tables go: told before a run, not after it, if nothing can be written there."""

from __future__ import annotations

import tempfile
from pathlib import Path

from blox.errors import BloxError


def check_writable(out: Path) -> None:
    """Refuses a directory that cannot be made or written to; leaves nothing behind.

    A new directory is tried in its nearest parent that exists, for permissions alone do not tell: some file
    systems take none.
    """
    place = out.absolute()
    try:
        while not place.exists():
            place = place.parent
        if not place.is_dir():
            raise BloxError(
                f"cannot be made: {place} is a file", where=str(out), fix="give another directory"
            )
        tempfile.TemporaryDirectory(prefix=".blox-", dir=place).cleanup()
    except OSError as error:
        raise BloxError(
            f"cannot be written: {place} takes no new directory ({error.strerror})",
            where=str(out),
            fix="give another directory",
        ) from None
