"""Nodes: which there are, which of them answer, and until when their processes may live."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from blox.cluster.central.records import NodeRecord
from blox.cluster.protocol.messages import Report
from blox.cluster.protocol.timing import Timing
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, Node
from blox.state.node_events import NodeEvent, NodeState
from blox.state.plan import Allocation, Plan

_MOST_GPUS = 1024  # of a node
_LONGEST_NAME = 100


@dataclass
class Heard:
    """What is known of a node since the scheduler started; nothing of this survives it."""

    incarnation: int = 0  # 0: it has not reported
    number: int = 0  # of its latest report
    lease_until_s: float = -math.inf  # by then its processes are dead unless it is answered again
    version: int = 0  # of its present assignment


class Nodes:
    """Nodes by name. `events` are changes of state that the next round has yet to learn."""

    def __init__(self, records: Iterable[NodeRecord], timing: Timing, now: float) -> None:
        self.records: dict[str, NodeRecord] = {record.node: record for record in records}
        self.heard: dict[str, Heard] = {name: Heard() for name in self.records}
        self.events: list[NodeEvent] = []
        self.changed: set[str] = set()
        self._timing = timing
        for heard in self.heard.values():
            # It may have been answered just before the scheduler stopped.
            heard.lease_until_s = self._lease_end(now)

    @property
    def names(self) -> list[str]:
        return list(self.records)

    def hear(self, report: Report, now: float) -> bool:
        """Takes in a report, which is about to be answered. False: it is older than one that was heard."""
        heard = self.heard.get(report.node)
        if heard is None:
            self._join(report, now)
            heard = self.heard[report.node]
        if report.incarnation < heard.incarnation:
            return False
        if report.incarnation == heard.incarnation and report.number <= heard.number:
            return False
        record = self.records[report.node]
        if (record.address, record.identity) != (report.address, report.identity):  # it has started again
            record.address, record.identity = report.address, report.identity
            self.changed.add(report.node)
        returned = not self.alive(report.node)
        restarted = report.incarnation > heard.incarnation > 0
        heard.incarnation, heard.number = report.incarnation, report.number
        heard.lease_until_s = self._lease_end(now)
        if restarted:
            self._note(report.node, "down", now)
        if restarted or returned:
            self._note(report.node, self.records[report.node].state, now)
        return True

    def credible(self, report: Report) -> bool:
        """Whether a node can be what it says, and no other machine that is alive has its name."""
        record = self.records.get(report.node)
        if record is None:
            return 1 <= report.gpus <= _MOST_GPUS and 1 <= len(report.node) <= _LONGEST_NAME
        if record.gpus != report.gpus:
            return False
        return record.identity == report.identity or not self.alive(report.node)

    def alive(self, node: str) -> bool:
        heard = self.heard[node]
        return heard.incarnation > 0 and heard.lease_until_s > -math.inf

    def expire(self, now: float) -> list[str]:
        """Nodes whose leases have run out since the last call."""
        gone = [
            name for name, heard in self.heard.items() if heard.lease_until_s <= now and not self._lost(name)
        ]
        for name in gone:
            self.heard[name].lease_until_s = -math.inf
            self._note(name, "down", now)
        return gone

    def set_state(self, node: str, state: NodeState, now: float) -> None:
        """As the node's operator wants it. Jobs leave a node that goes down so, all work saved."""
        self.records[node].state = state
        self.changed.add(node)
        if self.alive(node):
            self.events.append(NodeEvent(now, self.records[node].number, state, announced=state == "down"))

    def _lost(self, name: str) -> bool:
        return self.heard[name].lease_until_s == -math.inf

    def _lease_end(self, now: float) -> float:
        """When the processes of a node that is answered now, and never again, are surely dead."""
        return now + self._timing.lease_s + self._timing.margin_s

    def _note(self, node: str, state: NodeState, now: float) -> None:
        self.events.append(NodeEvent(now, self.records[node].number, state))

    def _join(self, report: Report, now: float) -> None:
        self.records[report.node] = NodeRecord(
            report.node,
            len(self.records),
            report.gpus,
            report.identity,
            report.address,
            report.gpu_type,
            report.cpu,
            report.memory_gb,
        )
        self.heard[report.node] = Heard()
        self.changed.add(report.node)


def cluster_of(records: Iterable[NodeRecord], states: Iterable[NodeState], held: Allocation) -> ClusterState:
    """The cluster of these nodes, each in its state, and what each job holds."""
    spec = ClusterSpec(tuple(Node(r.node, r.gpus, r.gpu_type, r.cpu, r.memory_gb) for r in records))
    cluster = ClusterState(spec)
    if held.size:  # before nodes are closed: jobs stay on one that drains
        cluster.holdings.apply(Plan(launch=held))
    for number, state in enumerate(states):
        cluster.set_node(number, state)
    return cluster


def joined(records: Iterable[NodeRecord], before: ClusterState | None) -> ClusterState:
    """The cluster with the nodes that have joined: each is down until the round after its first report."""
    nodes = list(records)
    known = 0 if before is None else before.nodes
    states: list[NodeState] = [] if before is None else [before.node_state(n) for n in range(known)]
    states += ["down"] * (len(nodes) - known)
    return cluster_of(nodes, states, Allocation() if before is None else before.allocation)
