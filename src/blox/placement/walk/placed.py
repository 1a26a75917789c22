"""Placed: what a walk down the schedule has put where, and the allocation that comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from blox.placement.walk.requests import Requests
from blox.state.cluster import ClusterState
from blox.state.plan import Allocation, Draft
from blox.workloads.table import Array


@dataclass
class Placed:
    """Position, node and GPUs of every new placement, in order; a job has one for each of its nodes."""

    jobs: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, job: int, node: int, count: int) -> None:
        self.jobs.append(job)
        self.nodes.append(node)
        self.counts.append(count)

    def allocation(
        self, requests: Requests, cluster_state: ClusterState, off: Array, *, blocked: bool, vouches: bool
    ) -> Allocation:
        """The allocation without the jobs that are `off` (by position), and with those that were placed.

        `vouches`: asked again at once, the walk would change nothing, unless somebody has moved.
        """
        schedule = requests.schedule
        leaving = schedule.jobs[off]
        if not self.jobs:
            return requests.settled(leaving)
        draft = requests.draft(leaving)
        placed, nodes, counts = np.array(self.jobs), np.array(self.nodes), np.array(self.counts)
        gpus = _lowest_ids(cluster_state, draft, nodes, counts)
        starts = np.concatenate(([True], placed[1:] != placed[:-1])).nonzero()[0]
        placed = placed[starts]
        jobs, totals = schedule.jobs.take(placed), np.add.reduceat(counts, starts)
        again = off[placed]
        if len(requests.unlisted):
            again = again | np.isin(jobs, requests.unlisted)
        if again.any():
            of_gpus = np.repeat(again, totals)
            draft.add(jobs[~again], totals[~again], gpus[~of_gpus])
            draft.move(jobs[again], totals[again], gpus[of_gpus])
        else:
            draft.add(jobs, totals, gpus)
        return draft.outcome(blocked=blocked, settled=vouches and not again.any())


def _lowest_ids(cluster_state: ClusterState, draft: Draft, nodes: Array, counts: Array) -> Array:
    """The lowest free ids on each node, in the order of the walk."""
    ids, size = cluster_state.free_ids(draft), cluster_state.nodes
    by_node = np.argsort(nodes, kind="stable")
    in_order = counts.take(by_node)
    free = np.bincount(cluster_state.gpu_node.take(ids), minlength=size)
    kept = free - np.bincount(nodes, weights=counts, minlength=size).astype(np.int64)
    first = np.empty(len(nodes), dtype=np.int64)  # of each placement, in the list of free ids
    first[by_node] = in_order.cumsum() - in_order
    first += (kept.cumsum() - kept).take(nodes)
    first -= counts.cumsum() - counts
    return ids.take(np.repeat(first, counts) + np.arange(int(counts.sum())))
