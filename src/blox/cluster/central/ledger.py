"""Ledger: what a step has changed, as records to be saved."""

from __future__ import annotations

from blox.cluster.central.history import History
from blox.cluster.central.jobs import Jobs, keep_columns
from blox.cluster.central.memory import memory_bytes, restore_memory
from blox.cluster.central.nodes import Nodes
from blox.cluster.central.records import (
    MEMORY,
    Asked,
    Job,
    encode,
    ended_key,
    history_key,
    job_key,
    life_key,
    node_key,
    request_key,
    stint_key,
)
from blox.cluster.central.stints import Stints
from blox.cluster.protocol.outputs import Note
from blox.cluster.protocol.queries import LifeEntry
from blox.state.jobs import JobState

Saves = list[tuple[str, bytes | None]]


class Ledger:
    """Collects changes; `take` hands them over, each record once."""

    def __init__(self, jobs: Jobs, nodes: Nodes, stints: Stints, history: History, memory: bytes) -> None:
        self._jobs, self._nodes, self._stints, self._history = jobs, nodes, stints, history
        self._entries: Saves = []  # lives and requests: written once
        self._memory, self._memory_changed = memory, False
        self.notes: list[Note] = []  # since they were last taken

    def restore_memory(self, job_state: JobState) -> None:
        """Gives the policies back what they remembered."""
        if self._memory:
            restore_memory(job_state, self._memory)

    def note_memory(self, job_state: JobState) -> None:
        """A round is over: policies may remember something else."""
        memory = memory_bytes(job_state)
        self._memory_changed = self._memory_changed or memory != self._memory
        self._memory = memory

    def asked(self, request: str, asked: Asked) -> None:
        """A request is accepted: repeated, it is not carried out again."""
        self._entries.append((request_key(request), encode(asked)))

    def record(self, job: Job, what: str, now: float, gpus: tuple[int, ...] = ()) -> None:
        """Adds an entry to the life of a job."""
        self._entries.append((life_key(job.job, job.life), encode(LifeEntry(now, what, gpus))))
        self.notes.append(Note("job", {"job": job.job, "what": what}))
        job.life += 1
        self._jobs.touch(job)

    def note(self, event: str, **fields: str | int | float) -> None:
        """Something worth a line in the log."""
        self.notes.append(Note(event, fields))

    def take(self, job_state: JobState) -> Saves:
        saves = self._entries
        self._entries = []
        for job in self._jobs.forgotten:
            saves += [(job_key(job.job), None), (ended_key(job.job), encode(job))]
            self._jobs.changed.pop(job.job, None)
        for job in self._jobs.changed.values():
            if job.row >= 0:
                keep_columns(job, job_state)
            saves.append((job_key(job.job), encode(job)))
        for key, stint in self._stints.changed.items():
            kept = key in self._stints.all
            saves.append((stint_key(*key), encode(stint) if kept else None))
        for name in sorted(self._nodes.changed):
            record = self._nodes.records[name]
            saves.append((node_key(record.number), encode(record)))
        for name, durations in self._history.changed.items():
            saves.append((history_key(name), None if durations is None else encode(durations)))
        self._history.changed = {}
        if self._memory_changed:
            saves.append((MEMORY, self._memory))
            self._memory_changed = False
        self._jobs.forgotten = []
        self._jobs.changed, self._stints.changed, self._nodes.changed = {}, {}, set()
        return saves
