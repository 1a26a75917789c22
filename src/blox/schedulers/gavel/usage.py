"""What the GPUs that jobs are on cost, and how long jobs share them. Kept, not decided upon."""

from __future__ import annotations

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.leases import Pins
from blox.state.schedule import Schedule
from blox.workloads.table import Array


class Usage:
    """Books every round when it is over, a job that ended inside it up to its end.

    `dollars` is for all GPUs so far, `shared_s` the seconds that each job (by row) has shared its GPUs. A GPU
    costs from the beginning of a round to the end of the last job on it, or of the round.
    """

    def __init__(self) -> None:
        self.dollars = 0.0
        self.shared_s: dict[int, float] = {}
        self._since_s = 0.0
        self._first: Array = np.empty(0, dtype=np.int64)  # by GPU in use: the jobs on it
        self._second: Array = self._first
        self._price: Array = np.empty(0)  # of each, per second

    def settle(self, job_state: JobState) -> None:
        """Books the round so far."""
        since, now, finish_s = self._since_s, job_state.now, job_state.columns.finish_s
        one, two = (np.fmin(finish_s.take(rows), now) for rows in (self._first, self._second))
        self.dollars += float(self._price @ np.maximum(np.maximum(one, two) - since, 0.0))
        shares = (self._first != self._second).nonzero()[0]
        if len(shares):
            pairs = np.column_stack((self._first, self._second))[shares].tolist()
            seconds = np.maximum(np.minimum(one, two)[shares] - since, 0.0).tolist()
            for (a, b), both in {tuple(pair): both for pair, both in zip(pairs, seconds)}.items():
                for row in (a, b):
                    self.shared_s[row] = self.shared_s.get(row, 0.0) + both
        self._since_s = now

    def begin(self, schedule: Schedule, prices: Array, cluster_state: ClusterState) -> None:
        """The round of this schedule begins; `prices` are dollars per GPU and hour, by GPU type."""
        first = np.full(len(cluster_state.gpu_type), -1)
        second = first.copy()
        if isinstance(schedule.pinned, Pins):
            first = schedule.pinned.owner
        else:
            for row, gpus in (schedule.pinned or {}).items():
                for gpu in gpus:
                    if first[gpu] < 0:
                        first[gpu] = row
                    else:
                        second[gpu] = row
        used = (first >= 0).nonzero()[0]
        self._first = first[used]
        self._second = np.where(second[used] >= 0, second[used], self._first)
        self._price = prices[cluster_state.gpu_type[used]] / 3600
