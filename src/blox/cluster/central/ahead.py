"""Looking ahead from the live state: why a job waits now, its place in line, and when it might start.

Everything happens on a fork of the states. Durations are what is believed of jobs; of those about which
nothing is, drawn from the work of the jobs so far.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from blox.clock import Rounds
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.protocol.queries import Guess, Queueing
from blox.lookahead.ahead import Believed, Conditions, Policies, decide_next, look_ahead
from blox.lookahead.beliefs import learnt, told
from blox.lookahead.clocks import patient
from blox.performance.duration import Duration
from blox.performance.overheads import Overheads
from blox.recording.standing import Round, Standing
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.termination.completed import Completed

_GROWTH = 0.25  # policies that share time are asked less and less often, see `lookahead.clocks`


@dataclass(frozen=True)
class Moment:
    """A fork of the live states: whatever is done with it, the cluster goes on as it is."""

    cluster_state: ClusterState
    job_state: JobState
    policies: Policies
    conditions: Conditions

    @classmethod
    def of(cls, scheduler: CentralScheduler, now: float) -> Moment | None:
        """None before the first node has joined."""
        if scheduler.cluster_state is None:
            return None
        cluster, jobs = scheduler.cluster_state.fork(), scheduler.job_state.fork()
        jobs.now = max(now, jobs.now)
        starting = np.isinf(jobs.columns.anchor).nonzero()[0]  # launched, and not yet known to have started
        progress.report(jobs, starting, jobs.columns.done0.take(starting), jobs.now)
        round_s = scheduler.timing.round_s
        clock = patient(Rounds(round_s), jobs.now, _GROWTH)
        conditions = Conditions(Duration(), Overheads(), clock, Completed(), round_s)
        return cls(cluster, jobs, Policies(*scheduler.parts), conditions)

    def queueing(self, row: int) -> Queueing | None:
        """Why a job waits, as a round now would decide; None: it would run."""
        found, waiting = self.in_line()
        for place, each in enumerate(waiting, 1):
            if each.row == row:
                return Queueing(place, found.blocked_by(each))
        return None

    def in_line(self) -> tuple[Round, list[Standing]]:
        """A round now, and the jobs that would wait after it, in the order of the policies."""
        decision = decide_next(
            self.cluster_state, self.job_state, self.policies, self.conditions, self._believed(0)
        )
        found = Round(decision, self.job_state.columns.job_id)
        return found, [each for each in found.standings if not each.held_gpus]

    def guess(self, row: int, draws: int, until_s: float) -> Guess:
        """Draws when a job starts, `draws` times or until the monotonic clock says `until_s`."""
        starts: list[float] = []
        for draw in range(draws):
            start = self._drawn_start(row, draw, until_s)
            if start is None:
                break
            starts.append(start - self.job_state.now)
        if not starts:
            return Guess(None, None, None, 0)
        low, middle, high = np.percentile(starts, (10, 50, 90), method="inverted_cdf").tolist()
        return Guess(_finite(low), _finite(middle), _finite(high), len(starts))

    def _drawn_start(self, row: int, draw: int, until_s: float) -> float | None:
        """When the job starts in one draw; inf: never; None: there was no time to find out."""

        def over(job_state: JobState) -> bool:
            columns = job_state.columns
            if columns.held_gpus[row] or columns.status[row] == FINISHED:
                return True
            return time.monotonic() > until_s

        ahead = look_ahead(
            self.cluster_state,
            self.job_state,
            self.policies,
            self.conditions,
            self._believed(draw),
            until=over,
        )
        columns = ahead.job_state.columns
        if columns.held_gpus[row]:
            return float(columns.held_since[row])
        if columns.status[row] == FINISHED:
            return float(columns.first_start_s[row])
        return None if time.monotonic() > until_s else math.inf

    def _believed(self, draw: int) -> Believed:
        """What is told of jobs, and where nothing is, what the others teach."""
        known = told(self.job_state, draw).work_s
        return Believed(np.where(np.isnan(known), learnt(self.job_state, draw).work_s, known))


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value
