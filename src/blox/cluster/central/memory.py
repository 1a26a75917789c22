"""What policies remember, as bytes, so that it survives the scheduler.

The bytes are a pickle of plain values, read from the scheduler's own journal only; nothing of it ever
travels.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from blox.state.jobs import JobState

_STATE = "job_state"


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, job_state: JobState) -> None:
        super().__init__(file, protocol=5)
        self._job_state = job_state

    def persistent_id(self, obj: Any) -> str | None:
        return _STATE if obj is self._job_state else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, job_state: JobState) -> None:
        super().__init__(file)
        self._job_state = job_state

    def persistent_load(self, name: Any) -> JobState:
        return self._job_state


def memory_bytes(job_state: JobState) -> bytes:
    """What the policies remember, and the logs by which they follow single jobs; b"" if they remember
    nothing."""
    if not job_state.memories():
        return b""
    file = io.BytesIO()
    _Pickler(file, job_state).dump((job_state.memories(), job_state.changes, job_state.starts))
    return file.getvalue()


def restore_memory(job_state: JobState, stored: bytes) -> None:
    """Gives the policies their memory back."""
    memories, job_state.changes, job_state.starts = _Unpickler(io.BytesIO(stored), job_state).load()
    job_state.restore_memories(memories)
