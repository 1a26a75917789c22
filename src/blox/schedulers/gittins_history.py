"""The distribution of job sizes that a policy goes by: given, or learnt from the jobs that have finished."""

from __future__ import annotations

import numpy as np

from blox.schedulers.gittins import GittinsIndex
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.workloads.table import Array

MOST = 1000  # samples; of a longer history, as many evenly spaced quantiles
GROWTH = 1.1  # the index is worked out anew when the history has grown so much


class History:
    """Gittins indices of GPU time; all are equal as long as nothing is known."""

    def __init__(self, samples: Array | None) -> None:
        self._given = samples is not None
        self._learnt = 0
        self._forgotten = 0  # jobs that have finished and whose rows are gone
        self._sizes = np.empty(0)  # of the latest of these, MOST at the most
        self._index = GittinsIndex(samples) if samples is not None else None

    def update(self, job_state: JobState) -> None:
        """Learns from the jobs that have finished, where no distribution was given."""
        if self._given:
            return
        finished = job_state.submitted - len(job_state.active) - len(job_state.waiting) + self._forgotten
        if finished and finished >= GROWTH * self._learnt:
            self._learnt = finished
            rows = np.flatnonzero(job_state.columns.status[: job_state.submitted] == FINISHED)
            sizes = np.sort(np.concatenate((self._sizes, job_state.columns.held0[rows])))
            if len(sizes) > MOST:
                sizes = sizes[(np.arange(MOST) * len(sizes) + len(sizes) // 2) // MOST]
            self._index = GittinsIndex(sizes)

    def forget(self, rows: Array, before: JobState) -> None:
        """The rows of jobs that have finished go away: their sizes are kept."""
        self._forgotten += len(rows)
        self._sizes = np.concatenate((self._sizes, before.columns.held0[rows]))[-MOST:]

    def index(self, service: Array) -> Array:
        """The index of each service attained."""
        return np.zeros(len(service)) if self._index is None else self._index(service)

    def until_passed(self, service: Array, index: Array, others: Array) -> Array:
        """Service that takes each index down to one of `others` that it is not below yet; inf: none does."""
        if self._index is None or not len(others):
            return np.full(len(service), np.inf)
        others = np.unique(others)
        next_lower = others.searchsorted(index, side="right") - 1
        left = np.full(len(service), np.inf)
        for level in np.unique(next_lower[next_lower >= 0]).tolist():
            here = next_lower == level
            left[here] = self._index.falls_to(service[here], float(others[level])) - service[here]
        return left
