"""BackendBase: what every backend of this package does alike.

Jobs come from a feed, node events and job failures from their sources. `next_event` is the earliest of these
and of the backend's own next event, in this one place, so that no kind of backend can forget one of them.
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
    """A backend gives `launch`, `suspend`, `completed`, `wait_until` and `_next_own_event`.

    What else the protocol asks for has a default here.
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
        self._busy_until_s = -math.inf  # what happens before is acted on then

    @property
    def exhausted(self) -> bool:
        return self._feed.ended

    def submit(self, job_state: JobState) -> None:
        self._feed.advance(job_state, self._learn)

    def node_events(self, now: float) -> list[NodeEvent]:
        return self._node_events.due(now)

    def failed(self, cluster_state: ClusterState, job_state: JobState) -> list[tuple[float, int]]:
        if self._job_failures is None:
            return []
        return self._job_failures.due(cluster_state, job_state)

    @final
    def next_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The earliest of the next submission, node event, job failure and event of the backend's own."""
        own = self._next_own_event(cluster_state, job_state)
        earliest = min(own, self._feed.next_submission, self._node_events.next_s)
        if self._job_failures is not None:
            earliest = min(earliest, self._job_failures.next_s(cluster_state, job_state))
        return earliest if earliest > self._busy_until_s else self._busy_until_s

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """When a job next completes, or anything else happens that only this backend knows; inf: never."""
        raise NotImplementedError

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Nothing to do where progress follows from the rate at the launch."""

    def adjust(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Nothing to do where only GPUs decide how fast jobs run."""

    def lose(self, rows: Array, job_state: JobState) -> Array:
        """Jobs keep all of their work where nothing else is known of their checkpoints."""
        self.suspend(rows, job_state)
        return progress.done_s(job_state, rows, job_state.now)

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """Stops jobs."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to give back."""

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        """Takes what policies do not see of newly staged jobs; nothing where jobs take their own time."""
