"""What a rank does at an iteration boundary: begin the next iteration, wait, or leave. Pure, and light to
import.

The first half of the two-phase exit. The lead (rank 0) that finds its lease revoked proposes the next
iteration as the last one, and waits until its worker manager knows that every other node has been told. No
other rank can complete that iteration before the lead takes part in it, so each finds the exit in its own
lease before it could begin another. It relies on this: ranks meet (all-reduce) at least once per iteration.
"""

from __future__ import annotations

from typing import Literal, Protocol

Step = Literal["go", "wait", "leave"]
NEVER = -1
LEFT = 75  # the exit code of a rank that left after a checkpoint (EX_TEMPFAIL: try again later)


class Lease(Protocol):
    """Memory that a rank shares with its worker manager. Reading it costs no message."""

    revoked: bool  # by the worker manager
    proposed: int  # by the rank: the iteration to leave after
    exit_at: int  # by the worker manager, once it holds for this rank
    central: bool  # whether every iteration is to be asked for
    asked: int  # central renewal: by the rank
    allowed: int  # central renewal: by the worker manager


def at_boundary(rank: int, world: int, iteration: int, lease: Lease) -> Step:
    """What to do when `iteration` is complete and the next has not begun."""
    if lease.exit_at != NEVER and iteration >= lease.exit_at:
        return "leave"
    if rank != 0:
        return "go"
    if lease.revoked and lease.exit_at == NEVER:
        if world == 1:
            return "leave"
        if lease.proposed == NEVER:
            lease.proposed = iteration + 1
        return "wait"
    if lease.central and lease.allowed < iteration and lease.exit_at == NEVER:
        lease.asked = iteration
        return "wait"
    return "go"
