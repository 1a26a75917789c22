"""Outputs: what a state machine wants done after an input. The shell around it does it, in this order.

First `saves` are made durable, all or none of them. Then `sends` and `actions` are carried out. A crash in
between is a crash after which some messages were lost, which every machine can bear anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from blox.cluster.protocol.messages import Grant, Message


class Start(msgspec.Struct, frozen=True):
    """Start the process of one rank in a slot."""

    grant: Grant
    rank: int
    slot: int


class Terminate(msgspec.Struct, frozen=True):
    """Ask the process of one rank to end (SIGTERM)."""

    job: int
    epoch: int
    rank: int


class Kill(msgspec.Struct, frozen=True):
    """Kill the process of one rank and everything that it started."""

    job: int
    epoch: int
    rank: int


class Revoke(msgspec.Struct, frozen=True):
    """Show one rank, at its next iteration boundary, that its lease is revoked."""

    job: int
    epoch: int
    rank: int


class FixExit(msgspec.Struct, frozen=True):
    """Show one rank that it leaves after this iteration."""

    job: int
    epoch: int
    rank: int
    iteration: int


class Allow(msgspec.Struct, frozen=True):
    """Central renewal: one rank may begin the iteration after this one."""

    job: int
    epoch: int
    rank: int
    iteration: int


class ExtendLease(msgspec.Struct, frozen=True):
    """Every process of the node is killed at this time (s, the node's clock) unless the lease is extended
    again.

    Held by a guard beside each process, so that it happens even if the worker manager stands still.
    """

    until_s: float


class Note(msgspec.Struct, frozen=True):
    """Something worth a line in the log and a count in the metrics; nothing depends on it."""

    event: str
    fields: dict[str, str | int | float]


Action = Start | Terminate | Kill | Revoke | FixExit | Allow | ExtendLease


@dataclass
class Outputs:
    """`saves`: (key, record) to store; None: to delete. `sends`: (address, message). `notes`: for people."""

    saves: list[tuple[str, bytes | None]] = field(default_factory=list)
    sends: list[tuple[str, Message]] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
