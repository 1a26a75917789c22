"""Apps: the active jobs grouped by who submitted them, and what finish-time fairness says of each.

An app is there from the first boundary at which it has a job to the last. How many there were on average
over each one's life is kept as an integral that is carried on only when their number changes, so that it
does not depend on how often it is looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from blox.state.believed import believed_left_s, believed_s
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.workloads.table import Array


@dataclass
class AppHistory:
    """What is remembered of apps between rounds: their numbers, and how many there were when."""

    numbers: dict[str, int] = field(default_factory=dict)  # of apps with a name; others are one job each
    app_of: Array = field(default_factory=lambda: NO_ROWS)  # by row
    began_s: Array = field(default_factory=lambda: np.empty(0))  # by app: the start of its present life
    area_then: Array = field(default_factory=lambda: np.empty(0))  # by app: the integral at that time
    present: Array = field(default_factory=lambda: NO_ROWS)  # apps, ascending
    since_s: float = 0.0  # they have been the present ones since then
    area: float = 0.0  # integral of their number up to then

    def update(self, job_state: JobState, column: str) -> None:
        """Takes in jobs that came or went."""
        self._number(job_state, column)
        apps = np.unique(self.app_of[job_state.active])
        if np.array_equal(apps, self.present):
            return
        now = job_state.now
        self.area += len(self.present) * (now - self.since_s)
        self.since_s = now
        fresh = np.setdiff1d(apps, self.present, assume_unique=True)
        if len(self.began_s) < len(self.app_of):
            grown = len(self.app_of) - len(self.began_s)
            self.began_s = np.concatenate((self.began_s, np.zeros(grown)))
            self.area_then = np.concatenate((self.area_then, np.zeros(grown)))
        self.began_s[fresh], self.area_then[fresh] = now, self.area
        self.present = apps

    def average_apps(self, now: float) -> Array:
        """The number of apps averaged over each present one's life so far, itself included."""
        count = len(self.present)
        lived = now - self.began_s[self.present]
        area = self.area + count * (now - self.since_s) - self.area_then[self.present]
        return np.where(lived > 0, area / np.where(lived > 0, lived, 1.0), count)

    def _number(self, job_state: JobState, column: str) -> None:
        """Numbers new rows: an app has the number of its first row, so a job without a name is its own."""
        seen, size = len(self.app_of), job_state.submitted
        if seen == size:
            return
        numbers = np.arange(seen, size)
        if column != "job":
            names = getattr(job_state.columns, column)[seen:size].tolist()
            for place, name in enumerate(names):
                if name != "":
                    numbers[place] = self.numbers.setdefault(str(name), seen + place)
        self.app_of = np.concatenate((self.app_of, numbers))


@dataclass(frozen=True, eq=False)
class Apps:
    """The apps that have active jobs, ascending by number, as columns (times in s, work in GPU-seconds).

    `of_job` gives the app of each active job, as a position here. `longest_s` is the time to go of the job
    that takes longest when each has all the GPUs that it can use.
    """

    of_job: Array
    elapsed_s: Array
    ideal_s: Array
    work_left: Array
    longest_s: Array
    most_gpus: Array

    @classmethod
    def of(cls, job_state: JobState, history: AppHistory, cluster_gpus: int) -> Apps:
        now, size = job_state.now, len(history.present)
        of_job = np.searchsorted(history.present, history.app_of[job_state.active])
        gpus, most = job_state.gpus, job_state.column("max_gpus")
        left = believed_left_s(job_state) * gpus
        work = np.maximum(believed_s(job_state, job_state.active), 1e-9) * gpus
        submitted = np.full(size, np.inf)
        np.minimum.at(submitted, of_job, job_state.submit_s)
        longest = np.zeros(size)
        np.maximum.at(longest, of_job, left / most)
        usable = np.bincount(of_job, most, minlength=size)
        alone = np.bincount(of_job, work, minlength=size) / np.minimum(usable, max(cluster_gpus, 1))
        return cls(
            of_job=of_job,
            elapsed_s=now - submitted,
            ideal_s=alone * history.average_apps(now),
            work_left=np.bincount(of_job, left, minlength=size),
            longest_s=longest,
            most_gpus=usable,
        )

    def rho(self, gpus: Array) -> Array:
        """rho of every app if its jobs shared so many GPUs from now on; inf without any.

        The jobs of an app take turns on its GPUs: it ends when all work is done, and not before its longest
        job can be. For an app of one job that is T_sh of the paper.
        """
        spread = self.work_left / np.maximum(np.minimum(gpus, self.most_gpus), 1)
        found: Array = (self.elapsed_s + np.maximum(self.longest_s, spread)) / self.ideal_s
        return np.where(gpus > 0, found, np.inf)

    def rho_of(self, app: int, gpus: int, slowdown: float = 1.0) -> float:
        """The same for one app, whose iterations take `slowdown` times as long where its GPUs are."""
        if not gpus:
            return math.inf
        spread = self.work_left.item(app) / min(gpus, self.most_gpus.item(app))
        left = max(self.longest_s.item(app), spread) * slowdown
        return float((self.elapsed_s.item(app) + left) / self.ideal_s.item(app))
