"""Preemption at an iteration boundary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from blox.cluster.protocol.messages import Grant
from blox.cluster.protocol.outputs import Action, Revoke
from blox.registry import register


@register.preemption("iteration")
@dataclass(frozen=True)
class IterationBoundary:
    """All ranks leave after the same iteration, with a checkpoint: for scripts that use blox.client.

    The revocation reaches rank 0 alone, which fixes the iteration (`blox.cluster.protocol.rank`).
    """

    waits = False

    def stop(self, grant: Grant, live: Iterable[int]) -> list[Action]:
        return [Revoke(*grant.key, 0)] if 0 in grant.ranks else []
