"""How a job is made to leave its GPUs (Table 5 of the paper), one kind per file.

A kind is a registered part:

    @register.preemption("name")
    @dataclass(frozen=True)
    class Mine:
        waits = False
        def stop(self, grant: Grant, live: Iterable[int]) -> list[Action]: ...
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from blox import registry
from blox.cluster.protocol.messages import Grant
from blox.cluster.protocol.outputs import Action


class Preemption(Protocol):
    """What a node does when the lease of a job is revoked.

    `waits`: the job is left alone until it is done. Otherwise what has not left within the grace period is
    killed, and goes on from its last checkpoint.
    """

    @property
    def waits(self) -> bool: ...

    def stop(self, grant: Grant, live: Iterable[int]) -> list[Action]:
        """Done once, on every node of the job; `live`: the ranks that run here."""
        ...


def preemption_of(spec: str) -> Preemption:
    """The kind that a job names."""
    kind: Preemption = registry.build("preemption", spec)
    return kind
