"""Placement by rules that depend on where GPUs are free: `place_by_node`, and the pool that a rule reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import index
from typing import Protocol

import numpy as np

from blox import ClusterState, JobState, Plan, Schedule
from blox.placement.walk.gpu_types import allowed_nodes
from blox.placement.walk.plain import Walk
from blox.placement.walk.requests import Requests, placed
from blox.placement.walk.room import Room
from blox.placement.walk.room import Share as Share
from blox.workloads.table import Array

_BYTE_MAX = 255  # the largest count that a byte holds


class NodePool(Room):
    """Free GPUs per node, as plain lists: this is the inner loop of position-dependent placement.

    An array of bytes holds the counts too; `best_fit` searches it for a node by its number of free GPUs.
    Counts above 255 are 0 there, and are searched for in `free`.
    """

    def __init__(self, node_free: Array, node_gpus: Array) -> None:
        super().__init__(node_free.tolist())
        self.top = int(node_gpus.max())  # size of the largest node
        self._node_gpus = node_gpus
        self._bytes = bytearray(np.where(node_free <= _BYTE_MAX, node_free, 0).astype(np.uint8))
        self._searched = min(self.top, _BYTE_MAX)  # the largest count that is searched for in the bytes

    @cached_property
    def sizes(self) -> list[int]:
        """Size of each node in GPUs, free or held, also of a node that is down; 0: the job may not use it."""
        return self._node_gpus.tolist()  # type: ignore[no-any-return]

    def take(self, row: int, unit: int, count: int) -> None:
        self.free[unit] = left = self.free[unit] - count
        self._bytes[unit] = left if 0 < left <= _BYTE_MAX else 0
        self.total -= count

    def best_fit(self, need: int) -> int:
        """The node with the fewest free GPUs of those with at least `need`, lowest id first; -1: none."""
        counts, most, count = self._bytes, self._searched, index(need)  # `find` takes numbers of Python alone
        while count <= most:  # faster than a loop over a range where a search ends soon, as most do
            if count in counts:
                return counts.find(count)
            count += 1
        if self.top == most:
            return -1
        least = max(need, _BYTE_MAX + 1)
        large = ((free, node) for node, free in enumerate(self.free) if free >= least)
        return min(large, default=(0, -1))[1]

    def restricted(self, allowed: Array) -> NodePool:
        """A copy of this pool for a job that may use only the `allowed` nodes (mask)."""
        return NodePool(np.where(allowed, np.array(self.free), 0), np.where(allowed, self._node_gpus, 0))

    def fewest(self, need: int) -> int:
        """The number of nodes that `need` GPUs take if all are free; more than there are: they do not fit."""
        return int(np.searchsorted(np.cumsum(np.sort(self._node_gpus)[::-1]), need)) + 1


class NodeRule(Protocol):
    """How a placement policy picks nodes for one job."""

    def choose(self, pool: NodePool, need: int) -> list[Share] | None:
        """(node, GPUs) pairs that add up to `need`, or None. It must not change the pool."""
        ...


RuleOfJob = Callable[[int], NodeRule]


class SameRule:
    """A function from row to rule that gives every job the same rule."""

    def __init__(self, rule: NodeRule) -> None:
        self.rule = rule

    def __call__(self, row: int) -> NodeRule:
        return self.rule


def same_rule(self: NodeRule, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob:
    """The `node_rule()` of a placement that is itself the rule of every job: `node_rule = same_rule`."""
    return SameRule(self)


class NodeRoom(NodePool):
    """A pool of nodes, and the rule that picks nodes for a job; GPU types restrict the pool of a job."""

    def __init__(self, requests: Requests, rule: NodeRule | RuleOfJob, best_fit: bool) -> None:
        cluster_state, node_free = requests.cluster_state, requests.cluster_state.node_free
        if len(requests.unlisted):
            node_free = node_free + requests.given_up()
        super().__init__(node_free, cluster_state.node_gpus)
        self._rule: RuleOfJob = rule if callable(rule) else SameRule(rule)
        self._allowed = allowed_nodes(requests.schedule, cluster_state, requests.job_state)
        if self._allowed is None and isinstance(self._rule, SameRule):
            self.alike, self.whole = self.top, self.top if best_fit else 0

    def choose(self, row: int, need: int) -> list[Share] | None:
        if need <= self.whole:
            node = self.best_fit(need)
            return [(node, need)] if node >= 0 else None
        pool = self if self._allowed is None else self.restricted(self._allowed[row])
        return self._rule(row).choose(pool, need)


def place_by_node(
    schedule: Schedule,
    cluster_state: ClusterState,
    job_state: JobState,
    rule: NodeRule | RuleOfJob,
    *,
    undo: bool = True,
    best_fit: bool = False,
) -> Plan:
    """The contract of placement for rules that depend on where GPUs are free.

    `rule` is one rule for all jobs, or a function from a row to its rule. `undo=False` is the behaviour of
    the original Blox: jobs that were released for a job that then found no place stay released, and a
    released job that is placed again in the same walk restarts. `best_fit=True` states that the rule puts a
    job that fits on one node on `pool.best_fit(need)` or nowhere, so the walk need not call it. If one rule
    for all jobs refuses a job that fits on one node, it is not called for later jobs that fit on one node and
    need as many GPUs or more; if that would be wrong, give a function of the row.
    """

    def walk(requests: Requests) -> Plan:
        room = NodeRoom(requests, rule, best_fit)
        return Walk(requests, cluster_state.gpu_node, room, undo=undo).run()

    return placed(schedule, cluster_state, job_state, walk)
