"""Where a job would fit, as the placement policy picks nodes; what is free now, and what running jobs free.

A placement that says by which rule it picks nodes (`node_rule`, `optional.py`) is asked for every job, and
jobs are then pinned to what it said. Of any other, GPUs are counted: whether a job finds the place that
is counted for it is then up to the placement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from blox.placement.walk.by_node import NodePool, NodeRule, RuleOfJob
from blox.placement.walk.gpu_types import allowed_nodes
from blox.placement.walk.pinned import held_by_node
from blox.schedulers.backfill.profile import Choose, Profile, Shares, less
from blox.state import progress
from blox.state.believed import believed_s
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.leases import Pins
from blox.state.schedule import Schedule
from blox.state.windows import Window
from blox.workloads.table import Array


class FutureRoom:
    """The cluster in one round: what is free now, by unit, and later, and for every job where it fits."""

    def __init__(self, waiting: Array, cluster_state: ClusterState, job_state: JobState) -> None:
        self._waiting, self._cluster, self._jobs = waiting, cluster_state, job_state
        rule = cluster_state.node_rule
        self._rule: RuleOfJob | None = None if rule is None else rule(cluster_state, job_state)
        # by the id of a rule, which is kept so that no other has it, GPUs and the nodes that a job may use
        self._whole: dict[tuple[int, int, bytes], tuple[NodeRule, bool]] = {}
        self._allowed = None
        if self._rule is not None:
            self._allowed = allowed_nodes(Schedule(waiting), cluster_state, job_state, reserved=False)
        self._windows = [window for window in cluster_state.windows if window.end_s > job_state.now]
        self.running: Array = cluster_state.running
        by_node = self._rule is not None
        self.free: Array = cluster_state.node_free if by_node else np.array([cluster_state.free_gpus])

    @property
    def now(self) -> float:
        return self._jobs.now

    def choose(self, row: int, need: int, length_s: float) -> Choose:
        """Where a job that takes so long would go, given what is free by unit and when it would start."""
        if self._rule is None:
            return lambda free, start_s: [(0, need)] if free[0] >= need else None
        rule, node_gpus = self._rule(row), self._cluster.node_gpus
        allowed = None if self._allowed is None else self._allowed[row]
        foreign = self._foreign[row]

        def by_rule(free: Array, start_s: float) -> Shares | None:
            here = allowed
            for window in foreign:
                if window.overlaps(start_s, length_s):
                    here = np.ones(len(free), dtype=bool) if here is None else here.copy()
                    here[window.nodes] = False
            if here is not None:
                free = np.where(here, free, 0)
            if int(free.sum()) < need:
                return None
            size = node_gpus if here is None else np.where(here, node_gpus, 0)
            return rule.choose(NodePool(free, size), need)

        return by_rule

    def keeps_out(self, row: int, start_s: float, length_s: float, shares: Shares) -> bool:
        """Whether a window keeps a job off one of these nodes, if it starts then and takes so long."""
        closed = [window.nodes for window in self._foreign[row] if window.overlaps(start_s, length_s)]
        return any(unit in nodes for nodes in closed for unit, _ in shares)

    def whole(self, row: int, need: int) -> bool:
        """Whether the rule puts a job on one unit or nowhere: where each lacks a GPU, it finds no place.

        It only narrows the search: False is always safe. It is False where windows close every node that is
        large enough, since the rule may then put the job on several smaller ones.
        """
        if self._rule is None:
            return True
        rule, size, nodes = self._rule(row), self._cluster.node_gpus, b""
        if self._allowed is not None:
            size, nodes = np.where(self._allowed[row], size, 0), self._allowed[row].tobytes()
        if (key := (id(rule), need, nodes)) not in self._whole:
            scattered = NodePool(np.minimum(size, need - 1), size)
            self._whole[key] = rule, rule.choose(scattered, need) is None
        return self._whole[key][1] and not self._closes_large(row, need, size)

    def _closes_large(self, row: int, need: int, size: Array) -> bool:
        """Whether windows close every node that is large enough for a job, where there are smaller ones."""
        if not self._windows:
            return False
        large = size >= need
        if np.array_equal(large, size > 0):
            return False
        for window in self._foreign[row]:
            large[window.nodes] = False
        return not large.any()

    @cached_property
    def _foreign(self) -> dict[int, list[Window]]:
        """Waiting row -> the windows that do not admit it."""
        found: dict[int, list[Window]] = {row: [] for row in self._waiting.tolist()}
        for window in self._windows:
            for row in self._waiting[~window.admits(self._waiting, self._jobs)].tolist():
                found[row].append(window)
        return found

    def held(self, row: int) -> Array:
        """What a running job would give back, by unit: GPUs of nodes that are up."""
        gpus = self._cluster.holdings.gpus_of(row)
        nodes = self._cluster.gpu_node.take(gpus)
        given = np.bincount(nodes, minlength=self._cluster.nodes) * self._cluster.node_up
        return given if self._rule is not None else np.array([int(given.sum())])

    def schedule(self, starting: dict[int, Shares], leaving: Sequence[int] = ()) -> Schedule:
        """The running jobs less the `leaving` ones, and those that start, where they were found a place."""
        stay = self.running[~np.isin(self.running, leaving)] if leaving else self.running
        jobs = np.concatenate((stay, np.fromiter(starting, dtype=np.int64, count=len(starting))))
        if self._rule is None or not starting:
            return Schedule(jobs, preempt=False)
        owner = self._cluster.owner.copy()
        free = self._cluster.is_free()
        for row in leaving:
            gone = owner == row
            owner[gone] = -1
            free |= gone & self._cluster.node_up[self._cluster.gpu_node]
        first, gpus = self._cluster.node_first, self._cluster.node_gpus
        for row, shares in starting.items():
            for node, count in shares:
                begin = int(first[node])
                ids = free[begin : begin + int(gpus[node])].nonzero()[0][:count] + begin
                owner[ids] = row
                free[ids] = False
        return Schedule(jobs, preempt=False, pinned=Pins(owner, jobs))

    def profile(self, starting: Sequence[tuple[float, Shares]] = ()) -> Profile:
        """What is free when, with these jobs (seconds, GPUs) started now.

        Running jobs end when they are believed to; one that is late ends at any moment.
        """
        cluster, jobs, rows = self._cluster, self._jobs, self.running
        now, free = jobs.now, self.free
        released = jobs.columns.held_gpus.take(rows)[:, None]
        if self._rule is not None or cluster.draining:
            released = held_by_node(rows, cluster, jobs) * cluster.node_up
        if self._rule is None:
            released = released.sum(axis=1, keepdims=True)
        ends_s = np.maximum(believed_ends_s(rows, jobs), math.nextafter(now, math.inf))
        if starting:
            nothing = np.zeros_like(free)
            taken = np.array([nothing - less(nothing, shares) for _, shares in starting])
            free, released = free - taken.sum(axis=0), np.vstack((released, taken))
            ends_s = np.concatenate((ends_s, now + np.array([length_s for length_s, _ in starting])))
        profile = Profile(now, free, ends_s, released)
        for window in self._windows:  # a job may start when one ends, and nodes are back from maintenance
            profile.edge(window.end_s)
            if self._rule is not None and window.maintenance and window.begin_s <= now:
                profile.free_from(window.end_s, window.nodes, cluster.node_gpus[window.nodes])
        return profile


def believed_ends_s(rows: Array, job_state: JobState) -> Array:
    """When running jobs are believed to end at the rates that they have; a time before now: they are late."""
    c = job_state.columns
    return progress.ends_s(job_state, rows, believed_s(job_state, rows), c.rate[rows], c.anchor[rows])
