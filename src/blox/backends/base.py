"""BackendBase: what all backends of this package have in common.

Jobs come from a feed, node events and job failures from their sources. `next_event` is the earliest of these
and of the backend's own next event; it is defined here only, so that no backend can forget one of them.
"""

from __future__ import annotations

import math
from typing import final

from blox.backends.feed import JobFeed
from blox.failures.job_failures import JobFailures
from blox.failures.node_events import ListedNodeEvents, NodeEvents
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import Allocation
from blox.workloads.table import Array, JobTable


class BackendBase:
    """A subclass defines `launch`, `suspend`, `completed`, `wait_until` and `_next_own_event`.

    The other methods of the protocol have a default here.
    """

    def __init__(
        self,
        feed: JobFeed,
        node_events: NodeEvents | None = None,
        job_failures: JobFailures | None = None,
    ) -> None:
        self._feed = feed
        self._node_events: NodeEvents = node_events or ListedNodeEvents()
        self._job_failures = job_failures
        self._busy_until_s = -math.inf  # events before this time are reported at it

    @property
    def exhausted(self) -> bool:
        return self._feed.ended

    def submit(self, job_state: JobState) -> None:
        if self._feed.next_submission <= job_state.now:
            self._feed.advance(job_state, self._learn)

    def node_events(self, now: float) -> list[NodeEvent]:
        return self._node_events.due(now) if self._node_events.next_s <= now else []

    def failed(self, cluster_state: ClusterState, job_state: JobState) -> list[tuple[float, int]]:
        return [] if self._job_failures is None else self._job_failures.due(cluster_state, job_state)

    @final
    def next_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The time of the next submission, node event, job failure or own event of the backend."""
        own = self._next_own_event(cluster_state, job_state)
        earliest = min(own, self._feed.next_submission, self._node_events.next_s)
        if self._job_failures is not None:
            earliest = min(earliest, self._job_failures.next_s(cluster_state, job_state))
        return earliest if earliest > self._busy_until_s else self._busy_until_s

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The time of the next completion, or of another event that only this backend knows; inf: never."""
        raise NotImplementedError

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Does nothing: progress follows from the rate at the launch."""

    def adjust(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Does nothing: only GPUs decide how fast jobs run."""

    def lose(self, rows: Array, job_state: JobState) -> Array:
        """Stops jobs; they keep all of their work, because nothing is known of their checkpoints."""
        self.suspend(rows, job_state)
        return progress.done_s(job_state, rows, job_state.now)

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """Stops jobs."""
        raise NotImplementedError

    def close(self) -> None:
        """Does nothing: there is nothing to release."""

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        """Stores the durations of newly staged jobs, which policies do not see. Does nothing in real time."""
