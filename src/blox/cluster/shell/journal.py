"""Journal: the scheduler's records in SQLite. What `commit` returned from survives any crash."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from blox.cluster.central.records import ARCHIVES
from blox.errors import BloxError

_SET_UP = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
"""


class Journal:
    """Keys and records. One scheduler at a time: a second one that opens the file is refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.executescript(_SET_UP)
            self._database.execute("BEGIN EXCLUSIVE")
            self._database.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise self._unreadable(error) from error

    def records(self) -> dict[str, bytes]:
        """Every record that a scheduler starts from; what is looked up one by one is left out.

        Raises BloxError where the file is damaged.
        """
        apart = " AND ".join("key NOT GLOB ?" for _ in ARCHIVES)
        patterns = [f"{prefix}*" for prefix in ARCHIVES]
        try:
            return dict(self._database.execute(f"SELECT key, value FROM records WHERE {apart}", patterns))
        except sqlite3.DatabaseError as error:
            raise self._unreadable(error) from error

    def get(self, key: str) -> bytes | None:
        """The record under a key."""
        row = self._database.execute("SELECT value FROM records WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def under(self, prefix: str, after: str = "", most: int = -1) -> dict[str, bytes]:
        """The records whose keys begin with a prefix, in order; of those behind `after`, `most` at most."""
        rows = self._database.execute(
            "SELECT key, value FROM records WHERE key >= ? AND key > ? AND key < ? ORDER BY key LIMIT ?",
            (prefix, after, prefix + "\U0010ffff", most),
        )
        return dict(rows)

    def commit(self, saves: Iterable[tuple[str, bytes | None]]) -> None:
        """Stores and deletes records, all or none of them.

        Raises BloxError where that cannot be; what was changed in memory is then ahead of what is stored, so
        the process must end, and start again from there.
        """
        database = self._database
        try:
            database.execute("BEGIN")
            for key, value in saves:
                if value is None:
                    database.execute("DELETE FROM records WHERE key = ?", (key,))
                else:
                    database.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (key, value))
            database.execute("COMMIT")
        except sqlite3.Error as error:
            raise BloxError(
                f"the journal cannot be written: {error}",
                where=str(self._path),
                fix="make room on its disk: nothing is acknowledged or decided before that",
            ) from error

    def _unreadable(self, error: sqlite3.DatabaseError) -> BloxError:
        if isinstance(error, sqlite3.OperationalError):
            fix = "end the other scheduler that uses it (`blox down`), or check the disk"
        else:
            fix = "the file is damaged: put a copy in its place, or move it away and submit its jobs again"
        return BloxError(f"the journal cannot be opened: {error}", where=str(self._path), fix=fix)

    def close(self) -> None:
        self._database.close()
