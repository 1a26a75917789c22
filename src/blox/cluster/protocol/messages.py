"""The messages of the cluster. Values: frozen, checked when decoded, the same over every carrier.

Scheduler and worker manager exchange whole states, not commands: a Report says everything that a node does,
an Assignment everything that it should do. So a message that is lost, repeated or late does no harm; the next
one says it all again. Both are numbered, and an older one is ignored.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from blox.state.node_events import NodeState

SCHEDULER = "scheduler"  # the address of the central scheduler; nodes are addressed by their names

# How the processes of a job came to their end. done: finished their work. left: after a checkpoint, as told.
# killed: by the worker manager. failed: by themselves. lost: their node failed or lost contact. "" while any
# may still run. The most severe comes last: ranks often fail because another was lost.
Outcome = Literal["", "done", "left", "killed", "failed", "lost"]
SEVERITY: tuple[Outcome, ...] = ("", "done", "left", "killed", "failed", "lost")


def worst(outcomes: list[Outcome]) -> Outcome:
    """The most severe of several ends."""
    return max(outcomes, key=SEVERITY.index, default="")


class JobSpec(msgspec.Struct, frozen=True):
    """A job as its user submits it."""

    command: tuple[str, ...] = ()
    gpus: int = 1
    name: str = ""
    user: str = ""
    tenant: str = ""
    expected_s: float | None = None  # None: unknown
    min_gpus: int = 0  # 0: as `gpus`
    max_gpus: int = 0
    priority: float = 0.0
    preemption: str = "iteration"  # a part: `blox policies preemption`
    launch: str = "command"  # a part: `blox policies launch`
    directory: str = ""  # where it is started; "": a directory of its own
    environment: dict[str, str] = {}
    loss_threshold: float | None = None  # None: that of the termination policy


class Grant(msgspec.Struct, frozen=True):
    """What one node should run of one epoch of a job: ranks in slots. `nodes[0]` runs rank 0, the lead."""

    job: int
    epoch: int
    ranks: tuple[int, ...]
    slots: tuple[int, ...]  # of each rank
    world: int  # ranks on all nodes
    nodes: tuple[str, ...]
    addresses: tuple[str, ...]
    stop: bool  # the lease is revoked: leave at an iteration boundary, after a checkpoint
    spec: JobSpec

    @property
    def key(self) -> tuple[int, int]:
        return self.job, self.epoch


class Assignment(msgspec.Struct, frozen=True, tag=True):
    """Everything that a node should run. What it runs besides is to be killed.

    `answers`: the latest report that the scheduler has seen; the lease counts from when that was sent.
    """

    node: str
    incarnation: int
    version: int
    answers: int
    grants: tuple[Grant, ...]


class PartReport(msgspec.Struct, frozen=True):
    """How one grant fares. `live`: a process of it may still run."""

    job: int
    epoch: int
    live: bool
    outcome: Outcome
    started: bool = False
    iteration: int = -1  # that the lead has completed; -1: not known here
    checkpoint: int = -1  # that was last saved
    detail: str = ""  # why it failed
    metrics: dict[str, float] = {}


class Report(msgspec.Struct, frozen=True, tag=True):
    """Everything that a node runs, or ran and was not yet told to forget. Sent often: it is the heartbeat
    too.

    `incarnation` counts the starts of the worker manager; when it starts, no process of an earlier one lives.
    `parts` of an earlier one are told until an assignment answers: how they ended was stored.
    """

    node: str
    incarnation: int
    number: int
    applied: int  # version of the latest assignment that was taken in
    gpus: int
    parts: tuple[PartReport, ...]
    identity: str = ""  # of the machine, so that no second one takes its name
    address: str = ""
    gpu_type: str = "gpu"
    cpu: float = 0.0
    memory_gb: float = 0.0
    wall_s: float | None = None  # its wall clock, when the report is sent


class ExitAt(msgspec.Struct, frozen=True, tag=True):
    """From the node of the lead to another of the job: all ranks leave after this iteration."""

    job: int
    epoch: int
    iteration: int
    sender: str


class ExitKnown(msgspec.Struct, frozen=True, tag=True):
    """The answer: every rank on the sender's node will see it at its next iteration boundary."""

    job: int
    epoch: int
    sender: str


class Ask(msgspec.Struct, frozen=True, tag=True):
    """Central renewal: may this job begin the next iteration?"""

    job: int
    epoch: int
    iteration: int
    sender: str


class Renewed(msgspec.Struct, frozen=True, tag=True):
    """The answer to Ask: it may, or its lease is revoked."""

    job: int
    epoch: int
    iteration: int
    go: bool


class Submit(msgspec.Struct, frozen=True, tag=True):
    """A user submits a job. The same `request` is the same job: it can be sent until answered."""

    request: str
    spec: JobSpec


class Cancel(msgspec.Struct, frozen=True, tag=True):
    request: str
    job: int


class SetPolicies(msgspec.Struct, frozen=True, tag=True):
    """From the next round on other policies rule. An empty text leaves one as it is."""

    request: str
    admission: str = ""
    scheduler: str = ""
    placement: str = ""
    termination: str = ""


class SetNode(msgspec.Struct, frozen=True, tag=True):
    """up: takes jobs. draining: keeps the jobs it has and takes no other. down: its jobs leave."""

    request: str
    node: str
    state: NodeState


class Accepted(msgspec.Struct, frozen=True, tag=True):
    """A request is durable, and will be carried out."""

    request: str
    job: int = -1


class Refused(msgspec.Struct, frozen=True, tag=True):
    """A request was not carried out, and will not be."""

    request: str
    what: str
    where: str = ""
    fix: str = ""


Request = Submit | Cancel | SetPolicies | SetNode
Answer = Accepted | Refused
Message = Report | Assignment | ExitAt | ExitKnown | Ask | Renewed | Request | Answer
