"""ReportingBackend: around a backend whose jobs train nothing, what they report about themselves.

A source (`job_reports/`) says how many epochs a job has and what it reports after each. The epochs of a job
are equal parts of its work, so what it reports follows from its progress. A report is an event: a policy that
reads metrics is asked again when one of them has changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol, cast

import numpy as np

from blox.backends.feed import JobFeed
from blox.errors import BloxError
from blox.foreign import watched_part
from blox.protocols import Backend
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

EPOCH = "epoch"  # how many a job has ended: reported with whatever a source reports
_GRAIN = 1e-9  # of an epoch: how far before its end a job may be and count as having ended it


class JobReports(Protocol):
    """What jobs report. The same rows and epochs give the same values, however often they are asked for."""

    def epochs_of(self, rows: Array, job_state: JobState) -> Array:
        """How many epochs each of these jobs has; 0: it reports nothing."""
        ...

    def report(self, rows: Array, epoch: Array, job_state: JobState) -> Mapping[str, Array]:
        """Name -> what each job reports when it has ended so many epochs, 1 or more."""
        ...


def reporting(backend: Backend, source: JobReports | None, feed: JobFeed) -> Backend:
    """The backend, its jobs reporting what the source says; without a source, the backend itself."""
    return backend if source is None else cast(Backend, ReportingBackend(backend, source, feed))


class ReportingBackend:
    """Passes everything on to the backend, and adds reports to what it collects."""

    def __init__(self, backend: Backend, source: JobReports, feed: JobFeed) -> None:
        self._backend, self._source, self._feed = backend, watched_part(source), feed
        self._told: Array = np.empty(0)  # by row: after how many epochs a job has last reported

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Brings the metrics of running jobs up to date; `epoch` is how many each has ended."""
        self._backend.collect(cluster_state, job_state)
        rows, _, ended = self._epochs(job_state)
        self._told.resize(job_state.submitted, refcheck=False)
        new = (ended != self._told[rows]) & (ended > 0)
        rows, ended = rows[new], ended[new]
        if not len(rows):
            return
        self._told[rows] = ended
        job_state.report_metric(EPOCH, rows, ended)
        for name, values in self._source.report(rows, ended, job_state).items():
            if np.shape(values) not in ((), rows.shape):
                raise BloxError(
                    f"report() gives {np.size(values)} values of {name!r} for {len(rows)} jobs",
                    where=f"{self._source!r}, at {job_state.now:.12g} s",
                    fix="return one number per row",
                )
            job_state.report_metric(name, rows, values)

    def next_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """The earliest of the backend's next event and the next report."""
        rows, epochs, ended = self._epochs(job_state)
        left = ended + 1 < epochs  # the end of the last epoch is the end of the job
        rows, share = rows[left], (ended[left] + 1) / epochs[left]
        earliest = self._backend.next_event(cluster_state, job_state)
        if not len(rows):
            return earliest
        c = job_state.columns
        rate, start = c.rate.take(rows), np.maximum(c.anchor.take(rows), job_state.now)
        lacking = share * self._feed.duration_s[rows] - progress.done_s(job_state, rows, start)
        due = start + np.divide(lacking, rate, out=np.full(len(rows), math.inf), where=rate > 0)
        return min(earliest, float(due.min()))

    def _epochs(self, job_state: JobState) -> tuple[Array, Array, Array]:
        """The running jobs that report, how many epochs each has, and how many it has ended."""
        rows = job_state.active[job_state.running]
        epochs = np.asarray(self._source.epochs_of(rows, job_state))
        rows, epochs = rows[epochs > 0], epochs[epochs > 0]
        done = progress.done_s(job_state, rows, job_state.now) / self._feed.duration_s[rows]
        return rows, epochs, np.minimum(np.floor(done * epochs + _GRAIN), epochs)
