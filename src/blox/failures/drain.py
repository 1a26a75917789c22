from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from blox.durations import AT_ONCE, NEVER, Seconds
from blox.errors import BloxError
from blox.failures.outages import Outage, events_of, known_events_of, node_number
from blox.registry import register
from blox.state.cluster_spec import ClusterSpec
from blox.state.node_events import NodeEvent


@register.failures("drain")
@dataclass(frozen=True)
class Drain:
    """Takes nodes down for maintenance, announced ahead: `drain:node=3+4,at=36h,lasts=2h,notice=1h`.

    `node`: names or numbers, joined with `+`. From `notice` before `at` the nodes take no new job. At `at`
    the jobs that still run there stop with their work saved. After `lasts` the nodes are back; without it,
    never.
    """

    node: tuple[str, ...]
    at: Seconds
    lasts: Seconds = NEVER
    notice: Seconds = AT_ONCE

    def __post_init__(self) -> None:
        if not self.node:
            raise BloxError("no node is named", fix="write node=3, or node=3+4")
        if not 0 <= self.at < math.inf or not 0 <= self.notice < math.inf:
            raise BloxError(
                f"at is {self.at!r} and notice {self.notice!r}", fix="both must be 0 or more: 36h"
            )
        if not self.lasts > 0:
            raise BloxError(f"lasts is {self.lasts!r}", fix="lasts must be above 0: 2h; left out: for ever")

    def node_events(self, cluster: ClusterSpec, seed: int) -> Iterator[NodeEvent]:
        return events_of(self._outages(cluster), cluster)

    def known_events(self, cluster: ClusterSpec, seed: int, now: float) -> Iterator[NodeEvent]:
        return known_events_of(self._outages(cluster), now)

    def _outages(self, cluster: ClusterSpec) -> list[Outage]:
        where = "failures drain"
        nodes = [node_number(name, cluster, where=where) for name in self.node]
        return [Outage(node, self.at, self.at + self.lasts, self.notice, where) for node in nodes]
