"""Nodes: which there are, which of them answer, and until when their processes may live."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from blox.cluster.central.records import NodeRecord
from blox.cluster.protocol.messages import Report
from blox.cluster.protocol.timing import Timing
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, Node
from blox.state.node_events import NodeEvent, NodeState
from blox.state.plan import Allocation, Plan

_MOST_GPUS = 256  # of a node: what it should run fits into a message
_MOST_NODES = 10_000
_MOST_PARTS = 4 * _MOST_GPUS  # jobs in a report: those that run, and those that are to be forgotten
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


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
        self.first_gpu: dict[str, int] = {}  # of each node, by the cluster's numbers
        self.total_gpus = 0  # of all nodes, alive or not
        for record in self.records.values():
            self._number_gpus(record)
        self.events: list[NodeEvent] = []
        self.changed: set[str] = set()
        self._timing = timing
        for heard in self.heard.values():
            # It may have been answered just before the scheduler stopped.
            heard.lease_until_s = self._lease_end(now)

    @property
    def names(self) -> list[str]:
        return list(self.records)

    def objection(self, report: Report, wall_s: float | None) -> str:
        """Why a report is refused; "" if it is not. `wall_s`: the scheduler's wall clock."""
        fault = _malformed(report)
        if fault:
            return fault
        record, heard = self.records.get(report.node), self.heard.get(report.node)
        if record is None or heard is None:
            if len(self.records) >= _MOST_NODES:
                return f"the cluster has {_MOST_NODES} nodes, which is the most"
            return self._clock_objection(report, wall_s)
        if record.gpus != report.gpus:
            return f"{report.node} had {record.gpus} GPUs: give a node with {report.gpus} another name"
        if record.identity != report.identity:
            if not self._lost(report.node):
                return f"another machine has the name {report.node}, and may be alive: give this one another"
            return self._clock_objection(report, wall_s)
        if report.incarnation < heard.incarnation:
            return f"{report.node} has started again since"
        if report.incarnation > heard.incarnation:
            return self._clock_objection(report, wall_s)
        if report.number <= heard.number:
            return f"report {report.number} of {report.node} was heard, or a later one"
        return ""

    def _clock_objection(self, report: Report, wall_s: float | None) -> str:
        """A node that starts must know what time it is, or its logs and the files that it shares mislead.

        Afterwards its clock may jump: leases are counted by its monotonic clock, which no other is compared
        with.
        """
        off_s = 0.0 if wall_s is None or report.wall_s is None else report.wall_s - wall_s
        if abs(off_s) <= self._timing.clock_off_s:
            return ""
        return (
            f"the clock of {report.node} is {abs(off_s):,.0f} s {'fast' if off_s > 0 else 'slow'}: set it "
            f"(NTP); {self._timing.clock_off_s:g} s are tolerated"
        )

    def hear(self, report: Report, now: float) -> str:
        """Takes in a report, which is about to be answered. Returns what is new about the node, in a word."""
        heard = self.heard.get(report.node)
        joins = heard is None
        if heard is None:
            self._join(report, now)
            heard = self.heard[report.node]
        record = self.records[report.node]
        if record.identity != report.identity:  # another machine in its place
            heard.incarnation = heard.number = 0
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
        return "joined" if joins else "started again" if restarted else "returned" if returned else ""

    def alive(self, node: str) -> bool:
        heard = self.heard[node]
        return heard.incarnation > 0 and heard.lease_until_s > -math.inf

    @property
    def gone(self) -> list[NodeRecord]:
        """Nodes that do not answer, and may come back."""
        return [record for record in self.records.values() if not self.alive(record.node)]

    def expire(self, now: float) -> list[str]:
        """Nodes whose leases have run out since the last call."""
        gone = [
            name for name, heard in self.heard.items() if heard.lease_until_s <= now and not self._lost(name)
        ]
        for name in gone:
            self.heard[name].lease_until_s = -math.inf
            self._note(name, "down", now)
        return gone

    def extend(self, seconds: float) -> None:
        """Gives every node that may be alive so much longer: none was listened to meanwhile."""
        for heard in self.heard.values():
            heard.lease_until_s += seconds

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
        self._number_gpus(self.records[report.node])
        self.heard[report.node] = Heard()
        self.changed.add(report.node)

    def _number_gpus(self, record: NodeRecord) -> None:
        self.first_gpu[record.node] = self.total_gpus
        self.total_gpus += record.gpus


def _malformed(report: Report) -> str:
    """What is wrong with a report by itself."""
    if not _NAME.fullmatch(report.node):
        return "a node's name is 1 to 100 letters, digits, dots, dashes and underscores"
    if not 1 <= report.gpus <= _MOST_GPUS:
        return f"the node says that it has {report.gpus} GPUs, and 1 to {_MOST_GPUS} are possible"
    if report.incarnation < 1 or report.number < 1:
        return "starts and reports are counted from 1"
    if not all(0 <= amount < math.inf for amount in (report.cpu, report.memory_gb)):
        return "CPU and memory are numbers, 0 or more"
    if len(report.parts) > _MOST_PARTS:
        return f"a report of {len(report.parts)} jobs, and {_MOST_PARTS} are the most"
    return ""


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
