"""No preemption: jobs run to completion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from blox.cluster.protocol.messages import Grant
from blox.cluster.protocol.outputs import Action
from blox.registry import register


@register.preemption("never")
@dataclass(frozen=True)
class RunToCompletion:
    """The job keeps its GPUs until it is done, whatever policies decide; only cancelling it ends it."""

    waits = True

    def stop(self, grant: Grant, live: Iterable[int]) -> list[Action]:
        return []
