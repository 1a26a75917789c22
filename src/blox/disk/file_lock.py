"""FileLock: a file that one process at a time can hold. The lock of a process that has died is free.

The system keeps the lock (`flock`), not the file: what a killed process leaves behind is an empty claim that
the next process takes over. Where a file system knows no locks, every process gets one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path

_UNKNOWN = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class FileLock:
    """A lock that is held; `release` removes its file."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path, self._handle = path, handle

    def release(self) -> None:
        """Removes the file, then unlocks it: no process can lock a file that is about to vanish."""
        with contextlib.suppress(OSError):
            self._path.unlink()
        os.close(self._handle)


def lock_file(path: Path) -> FileLock | None:
    """Makes the file and locks it; None where another process holds it. Raises OSError."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        if not lock_handle(handle):
            os.close(handle)
            return None
        if _is_at(handle, path):
            with contextlib.suppress(OSError):  # the number is for messages alone
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
            return FileLock(path, handle)
        os.close(handle)  # it was removed between our opening and our locking it: once more


def lock_handle(handle: int) -> bool:
    """Locks an open file; False where another process holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
    return True


def holder(path: Path) -> str:
    """The process that holds a lock, in words."""
    try:
        number = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        number = ""
    return f"process {number}" if number.isdigit() and len(number) < 20 else "another process"


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False
