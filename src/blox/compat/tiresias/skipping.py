from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blox.cluster_state import ClusterState
from blox.job_state import JobState
from blox.schedule import Schedule


@dataclass(frozen=True)
class EveryOther:
    """The original's `lpjf`: strictly first come, first served, but every other waiting job is passed over.

    Meant is the longest-waiting first; a misspelt key makes all waits 0, and jobs are taken off the list
    while it is walked, so that whoever follows a job that starts is not looked at until the next event.
    """

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        running = job_state.running
        waiting = job_state.active[~running][::2]
        jobs = np.concatenate((job_state.active[running], waiting))
        return Schedule(jobs, strict=True, preempt=False)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        return math.inf
