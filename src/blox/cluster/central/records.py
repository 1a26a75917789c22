"""What the scheduler keeps on disk, each under a key: jobs, stints, nodes, policies and what they remember.

A record is written whole whenever it changes, in the same transaction as every other change of that step. So
a scheduler that starts again reads the state that it had at the end of a step, and nothing in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from blox.cluster.protocol.messages import JobSpec, Outcome
from blox.state.node_events import NodeState

R = TypeVar("R", bound=msgspec.Struct)

QUEUED, GRANTED, STOPPING, DROPPED = "queued", "granted", "stopping", "dropped"


class Share(msgspec.Struct):
    """The share of a stint on one node. `outcome` is "" while a process of it may live."""

    node: str
    ranks: tuple[int, ...]
    slots: tuple[int, ...]
    incarnation: int = 0  # of the worker manager that it was granted to
    outcome: Outcome = ""
    absent_from: int = 0  # the version of the first assignment without it


class Stint(msgspec.Struct):
    """One epoch of a job: where it should run and what is known of its processes.

    queued: decided, but its slots or its former epoch are not free yet. granted: assigned. stopping:
    assigned, lease revoked. dropped: no longer assigned, its processes are killed. Over when every share has
    an outcome.
    """

    job: int
    epoch: int
    shares: list[Share]
    phase: str = QUEUED
    stopped: bool = False  # the scheduler has asked it to leave
    detail: str = ""
    started_s: float | None = None
    ended_s: float = 0.0  # when the last process was known to have ended
    iteration: int = -1
    checkpoint: int = -1

    @property
    def key(self) -> tuple[int, int]:
        return self.job, self.epoch

    @property
    def over(self) -> bool:
        return self.phase != QUEUED and all(share.outcome for share in self.shares)


class Job(msgspec.Struct):
    """A job that was acknowledged. `columns`: its row of JobState, as of the last round that changed it."""

    job: int
    request: str
    spec: JobSpec
    submit_s: float
    expected_s: float | None = None  # what is believed of its run time when it is submitted; None: nothing
    expected_from: str = "unknown"  # whose belief that is
    row: int = -1  # in JobState; -1: not there yet
    epoch: int = 0  # of its latest stint
    commanded: int = 0  # the epoch that holds GPUs by the latest plan; 0: none does
    failures: int = 0
    retry_s: float = 0.0  # it does not start again before
    verdict: str = ""  # why it is to be ended before its work is done
    end: str = ""  # finished, or the verdict; "" until it has ended
    end_s: float = 0.0
    life: int = 0  # entries in its life
    saved_s: float = 0.0  # its work at its last checkpoint
    checkpoint: int = -1
    starts: int = 0  # epochs that a node has started
    columns: dict[str, float] = {}


class NodeRecord(msgspec.Struct):
    """A node that has ever reported, in order of their numbers."""

    node: str
    number: int
    gpus: int
    identity: str
    address: str
    gpu_type: str = "gpu"
    cpu: float = 0.0
    memory_gb: float = 0.0
    state: NodeState = "up"  # as its operator wants it


class Policies(msgspec.Struct, frozen=True):
    """The specs of the policies that rule."""

    admission: str = "accept-all"
    scheduler: str = "fifo"
    placement: str = "first-free"
    termination: str = "completed"


class Term(msgspec.Struct):
    """How often the scheduler has started. Versions of assignments grow with it: old ones are known."""

    term: int
    now: float = 0.0  # the time when it started, the cluster's
    wall_s: float = 0.0  # and the wall clock's


class Asked(msgspec.Struct, frozen=True):
    """A request that was accepted: `digest` of its content, and the job that it became (-1: none)."""

    digest: bytes
    job: int = -1


def job_key(job: int) -> str:
    return f"job/{job:010d}"


def ended_key(job: int) -> str:
    """Of a job that has ended and was forgotten: nothing but its record is left."""
    return f"{ENDED}{job:010d}"


def request_key(request: str) -> str:
    return f"{REQUESTS}{request}"


def stint_key(job: int, epoch: int) -> str:
    return f"stint/{job:010d}/{epoch:06d}"


def node_key(number: int) -> str:
    return f"node/{number:06d}"


def history_key(key: str) -> str:
    return f"history/{key}"


def life_key(job: int, entry: int) -> str:
    return f"{LIVES}{job:010d}/{entry:06d}"


POLICIES, TERM, MEMORY = "policies", "term", "memory"
LIVES, ENDED, REQUESTS = "life/", "ended/", "request/"  # read one by one, never all at once
ARCHIVES = (LIVES, ENDED, REQUESTS)

encode = msgspec.msgpack.encode
decode_job = msgspec.msgpack.Decoder(Job).decode
decode_asked = msgspec.msgpack.Decoder(Asked).decode


def under(records: Mapping[str, bytes], prefix: str, kind: type[R]) -> list[R]:
    """The records whose keys begin with a prefix, in order of the keys."""
    decode = msgspec.msgpack.Decoder(kind).decode
    return [decode(records[key]) for key in sorted(records) if key.startswith(prefix)]


def one(records: Mapping[str, bytes], key: str, kind: type[R]) -> R | None:
    """The record under a key, or None."""
    found = records.get(key)
    return None if found is None else msgspec.msgpack.decode(found, type=kind)
