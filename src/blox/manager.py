"""BloxManager: the verbs of the loop, over a backend.

It owns the time, the wait queue's intake, and the bookkeeping of what a plan does to the two states. It
decides nothing: policies do.
"""

from __future__ import annotations

import math

from blox.clock import Clock, Events, Rounds
from blox.errors import BloxError
from blox.protocols import Backend, TerminationPolicy, declared
from blox.recorder import Recorder
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState, scalar_index
from blox.state.plan import NO_ROWS, Plan
from blox.termination.completed import Completed
from blox.workloads.table import Array

_IDLE_ROUNDS = 10_000  # how long a policy may leave everything idle with nothing to wait for


class BloxManager:
    """Runs until the window has finished, or every job has, or `max_rounds` rounds have been begun.

    `window`: first and last position, in order of submission, of the jobs that are measured. Where an
    order starves some of them for ever, the run is cut off when `most_submitted` jobs have come.
    """

    def __init__(
        self,
        backend: Backend,
        clock: Clock | None = None,
        *,
        termination: TerminationPolicy | None = None,
        window: tuple[int, int] | None = None,
        max_rounds: int | None = None,
        most_submitted: float = math.inf,
        recorder: Recorder | None = None,
    ) -> None:
        self.backend = backend
        self.clock: Clock = clock or Rounds()
        self.event_driven = isinstance(self.clock, Events)
        self.termination: TerminationPolicy = termination or Completed()
        self._ends_none = type(self.termination) is Completed  # so that it need not be asked
        self.recorder = recorder or (
            Recorder(self.clock.end_of_round) if isinstance(self.clock, Rounds) else Recorder()
        )
        self.window = window
        self.max_rounds = max_rounds
        self.most_submitted = most_submitted
        self.terminate = False
        self.truncated = False  # ended by max_rounds or most_submitted
        self.now = 0.0
        self.rounds = 0  # rounds that were executed, not passed over
        self._job_state: JobState | None = None
        self._window_left = math.inf if window is None else window[1] - window[0] + 1
        self._idle = 0

    def update_cluster(self, cluster_state: ClusterState) -> None:
        """Takes in machines that came, went or failed; jobs on a lost machine must run again elsewhere."""
        for node, up in self.backend.node_events(self.now):
            lost = cluster_state.set_node_up(node, up)
            job_state = self._job_state
            if len(lost) and job_state is not None:
                job_state.now = self.now
                self.backend.suspend(lost, job_state)
                self._take_off(lost, self.now, cluster_state, job_state)
                self.recorder.evicted(lost, self.now)

    def update_metrics(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Moves `job_state` to the present and brings the metrics of its jobs up to date."""
        self._job_state = job_state
        job_state.now = self.now
        self.rounds += 1
        self.backend.collect(cluster_state, job_state)

    def prune_completed_jobs(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Jobs whose work is done, or that the termination policy ends, leave and free their GPUs."""
        rows, at = self.backend.completed(cluster_state, job_state)
        if len(rows):
            self._retire(rows, at, cluster_state, job_state, running=None)
        if self._ends_none:
            return
        ended = self.termination.terminate(job_state, cluster_state)
        if len(ended):
            self.backend.suspend(ended, job_state)
            running = job_state.columns.held_gpus[ended] > 0
            self._retire(ended, self.now, cluster_state, job_state, running)

    def pop_wait_queue(self) -> Array:
        """Every submitted job that is not admitted yet, those held earlier first."""
        job_state = self._job_state
        if job_state is None:
            return NO_ROWS
        self.backend.submit(job_state)
        if job_state.submitted > self.most_submitted:
            self.terminate = self.truncated = True
        if not len(job_state.waiting):
            self._stop_if_all_done(job_state)
        return job_state.waiting

    def exec_jobs(self, plan: Plan, cluster_state: ClusterState, job_state: JobState) -> None:
        """Carries a plan out: suspends, then launches, then adjusts."""
        admitted = job_state.just_admitted
        if len(admitted):
            self.recorder.admitted(admitted)
            job_state.just_admitted = NO_ROWS
        job_state.just_finished = NO_ROWS
        self._apply(plan, cluster_state, job_state)
        self.recorder.round(plan, cluster_state, job_state)

    def next_round(
        self, cluster_state: ClusterState, job_state: JobState, stable_until: float = -math.inf
    ) -> None:
        """Waits for the next wake-up: jumps in simulation, sleeps on a cluster.

        `stable_until` is the parts' promise that nothing will change by itself before then.
        """
        if self.terminate:
            return
        event = self.backend.next_event(cluster_state, job_state)
        wake = self.clock.next_wake(self.now, event, stable_until)
        if event < math.inf or cluster_state.allocation.size:
            self._idle = 0
        elif self._ends_idle(wake, job_state):
            return
        if self.max_rounds is not None:
            begun = self.clock.wakes_before(wake)
            if (self.rounds if begun < 0 else begun) >= self.max_rounds:
                self.now = wake if begun < 0 else self._last_wake()
                self.terminate = self.truncated = True
                return
        self.now = self.backend.wait_until(wake)
        while self.now > wake and not self.event_driven:  # overran: go on at the next boundary
            wake = self.clock.next_wake(self.now, event, -math.inf)
            self.now = self.backend.wait_until(wake)

    def _ends_idle(self, wake: float, job_state: JobState) -> bool:
        """Nothing runs and nobody comes: whether the run is over. A policy may have its reasons to wait."""
        self._idle += 1
        if wake == math.inf or self._idle > _IDLE_ROUNDS:
            raise _stuck(job_state)
        return False

    def _last_wake(self) -> float:
        """Where a truncated run ends: at the boundary that is not executed any more."""
        assert self.max_rounds is not None
        return self.clock.round_s * self.max_rounds if isinstance(self.clock, Rounds) else self.now

    def _apply(self, plan: Plan, cluster_state: ClusterState, job_state: JobState) -> None:
        if plan.wanted is cluster_state.allocation:
            plan.wanted.settled = True  # asked again at once, the placement has no reason to change its mind
            return
        now, suspend, move = self.now, plan.suspend, plan.move
        if len(suspend):
            self.backend.suspend(suspend, job_state)
            job_state.stop(suspend, now)
            job_state.columns.preemptions[scalar_index(suspend)] += 1
        if move.size:
            self.backend.suspend(move.jobs, job_state)
            job_state.stop(move.jobs, now)
            job_state.columns.moves[move.jobs] += 1
        for grants in (move, plan.launch):
            if grants.size:
                rate, anchor = self.backend.launch(grants, cluster_state, job_state)
                job_state.start(grants.jobs, grants.counts, rate, anchor)
        if plan.adjust.size and (adjust := declared(self.backend, "adjust")):
            adjust(plan.adjust, cluster_state, job_state)
        cluster_state.carry_out(plan.wanted)

    def _retire(
        self,
        rows: Array,
        at: Array | float,
        cluster_state: ClusterState,
        job_state: JobState,
        running: Array | None,
    ) -> None:
        """Jobs leave for good; `running` says which of them hold GPUs (None: all)."""
        if running is None:
            self._take_off(rows, at, cluster_state, job_state)
        elif running.any():
            self._take_off(rows[running], self.now, cluster_state, job_state)
        job_state.finish(rows, at)
        self.recorder.finished(rows, at, running)
        if self.window is not None:
            first, last = self.window
            for row in rows.tolist():
                self._window_left -= first <= row <= last
            if not self._window_left:
                self.terminate = True

    def _take_off(
        self, rows: Array, at: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> None:
        """Stops jobs and frees what they hold, outside of any plan."""
        job_state.stop(rows, at)
        cluster_state.release(rows, job_state.submitted)

    def _stop_if_all_done(self, job_state: JobState) -> None:
        if self.backend.exhausted and not job_state.active_count:
            self.terminate = True


def _stuck(job_state: JobState) -> BloxError:
    rows = job_state.active if job_state.active_count else job_state.waiting
    some = ", ".join(repr(job_state.columns.job_id[row]) for row in rows[:3].tolist())
    held = "admitted" if job_state.active_count else "held by the admission policy"
    return BloxError(
        f"{len(rows)} jobs ({some}, ...) are {held}, nothing runs, and nothing will change any more",
        where=f"at {job_state.now:.12g} s",
        fix="check that the policies give every job a turn, and that the placement can place it at all",
    )
