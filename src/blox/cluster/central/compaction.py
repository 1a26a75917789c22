"""Compaction: jobs that ended long ago leave the tables, so that the scheduler's memory does not grow.

Their records stay in the journal. Rows are numbered anew, which what policies remember has to bear: where it
cannot (`Renumbered`), the tables stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from msgspec.structs import replace

from blox.cluster.central.nodes import cluster_of
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.cluster.central.scheduler import CentralScheduler

KEPT = 500  # jobs that ended last: what is learnt of durations comes from them
MOST = 2_000  # ended jobs, at least, before any leave the tables


@runtime_checkable
class Renumbered(Protocol):
    """What a policy remembers, where it can bear that jobs get other rows."""

    def renumber(self, rows: Array, before: JobState) -> None:
        """Row r is now `rows[r]`; -1: the job has ended and is forgotten. Logs of changes begin anew.

        `before`: the state in which the rows are what they were.
        """
        ...


def due(scheduler: CentralScheduler) -> bool:
    """Whether so many jobs have ended that the tables are worth rewriting: seldom enough to cost little."""
    jobs = scheduler.jobs
    return jobs.ended > max(MOST, jobs.unfinished) and scheduler.backend.idle and _bears(scheduler.job_state)


def compact(scheduler: CentralScheduler, cluster: ClusterState) -> tuple[JobState, ClusterState]:
    """Forgets jobs that have ended; returns the states without them."""
    jobs, stints, before = scheduler.jobs, scheduler.stints, scheduler.job_state
    newest = max(jobs.all)  # numbers go on from it after a restart
    ended = sorted((job for job in jobs.all.values() if job.end), key=lambda job: (job.end_s, job.job))
    gone = [job for job in ended[:-KEPT] if job.job != newest and not stints.has(job.job)]
    kept = jobs.forget(gone)
    after = before.select(kept)
    numbers = np.full(before.submitted, -1)
    numbers[kept] = np.arange(len(kept))
    for memory in before.memories().values():
        memory.renumber(numbers, before)
    after.restore_memories(before.memories())
    return after, _renumbered(cluster, numbers, scheduler)


def _renumbered(cluster: ClusterState, numbers: Array, scheduler: CentralScheduler) -> ClusterState:
    held = cluster.allocation
    states = [cluster.node_state(node) for node in range(cluster.nodes)]
    records = list(scheduler.nodes.records.values())[: cluster.nodes]
    return cluster_of(records, states, replace(held, jobs=numbers[held.jobs]))


def _bears(job_state: JobState) -> bool:
    return all(isinstance(memory, Renumbered) for memory in job_state.memories().values())
