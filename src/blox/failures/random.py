from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from blox.durations import DAY, HOUR, NEVER, Seconds
from blox.errors import BloxError
from blox.failures.streams import stream
from blox.registry import register
from blox.state.cluster_spec import ClusterSpec
from blox.state.node_events import NodeEvent, NodeState

SHORTEST_S, LONGEST_S = 1.0, 1000 * 365 * DAY  # mean times beyond these are slips of the pen
_RANGE = "1 s to 1000 years"


@register.failures("random")
@dataclass(frozen=True)
class Random:
    """Every node fails at random and is repaired; jobs may fail by themselves as well.

    `mtbf` is the mean time that a node is up before it fails, `repair` the mean time until it is back. Times
    to failure are exponential, or Weibull with this `shape` and the same mean (below 1: failures come in
    bursts after a repair; above 1: nodes wear out). Repairs are exponential. Each node has a random stream of
    its own. `job_mtbf`: the mean GPU time that a job receives before it fails by itself.
    """

    mtbf: Seconds = NEVER
    repair: Seconds = HOUR
    shape: float = 1.0
    job_mtbf: Seconds = NEVER

    def __post_init__(self) -> None:
        for name in ("mtbf", "job_mtbf"):
            mean_s = getattr(self, name)
            if mean_s != NEVER and not SHORTEST_S <= mean_s <= LONGEST_S:
                fix = f"{name} must be above 0, {_RANGE}, such as 30d, or never"
                raise BloxError(f"{name} is {mean_s!r}", fix=fix)
        if self.repair and not SHORTEST_S <= self.repair <= LONGEST_S:
            fix = f"repair must be a time, 0 or {_RANGE}: 4h"
            raise BloxError(f"repair is {self.repair!r}", fix=fix)
        if not 0.1 <= self.shape <= 100:
            raise BloxError(f"shape is {self.shape!r}", fix="shape must be from 0.1 to 100; 1: exponential")
        if self.mtbf == self.job_mtbf == math.inf:
            raise BloxError("nothing fails", fix="give mtbf (of a node), job_mtbf (GPU time), or both")

    def check_round(self, round_s: float) -> None:
        """Refuses nodes that fail again within a round, at whose end alone anything is decided."""
        if self.mtbf + self.repair < round_s:
            times = round_s / (self.mtbf + self.repair)
            raise BloxError(
                f"every node would fail {times:,.3g} times in a round of {round_s:g} s",
                where="failures",
                fix="give a longer mtbf, shorter rounds, or --clock events",
            )

    def node_events(self, cluster: ClusterSpec, seed: int) -> Iterator[NodeEvent]:
        if self.mtbf == math.inf:
            return iter(())
        return heapq.merge(*(self._of_node(node, seed) for node in range(len(cluster.nodes))))

    def known_events(self, cluster: ClusterSpec, seed: int, now: float) -> Iterator[NodeEvent]:
        """A node that is down is expected back a mean repair from `now` on: repairs are exponential."""
        state: dict[int, NodeState] = {}
        for event in takewhile(lambda event: event.time_s <= now, self.node_events(cluster, seed)):
            state[event.node] = event.state
            yield event
        down = sorted(node for node in state if state[node] == "down")
        yield from (NodeEvent(now + self.repair, node, "up") for node in down)

    def _of_node(self, node: int, seed: int) -> Iterator[NodeEvent]:
        rng, time_s = stream(seed, "node failures", node), 0.0
        scale = self.mtbf / math.gamma(1 + 1 / self.shape)
        while True:
            time_s += scale * rng.weibull(self.shape)
            yield NodeEvent(time_s, node, "down")
            time_s += self.repair * rng.exponential()
            yield NodeEvent(time_s, node, "up")
