"""Preemption by a signal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from blox.cluster.protocol.messages import Grant
from blox.cluster.protocol.outputs import Action, Terminate
from blox.registry import register


@register.preemption("signal")
@dataclass(frozen=True)
class Signal:
    """Every rank is sent SIGTERM, to save and leave by its own means: for scripts that do not know blox.

    Exit code 75, or death by the signal, means that it is to go on later.
    """

    waits = False

    def stop(self, grant: Grant, live: Iterable[int]) -> list[Action]:
        return [Terminate(*grant.key, rank) for rank in sorted(live)]
