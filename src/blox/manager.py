"""BloxManager: the verbs of the loop, over a backend.

It owns the clock, moves submitted jobs into the wait queue, and applies each plan to the two states. It
decides nothing: policies do.
"""

from __future__ import annotations

import math

import numpy as np

from blox.clock import Clock, Events, Rounds
from blox.errors import BloxError
from blox.failures.attempts import Attempts
from blox.protocols import Backend, TerminationPolicy, declared
from blox.recording.recorder import Recorder
from blox.registry import spec_of
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.holdings import NotFree
from blox.state.jobs import JobState, scalar_index
from blox.state.misfit import Misfit, misfit, not_free, unusable
from blox.state.node_events import NodeEvent
from blox.state.plan import NO_ROWS, Allocation, Plan
from blox.termination.completed import Completed
from blox.workloads.table import Array

# More rounds in a row, or wake-ups with node events, with nothing running and nothing to come: it is stuck.
_IDLE = 10_000


class BloxManager:
    """Runs until all jobs of the window, or all jobs, have finished, or `max_rounds` rounds have begun.

    `window`: first and last position, in order of submission, of the jobs that are measured. If the schedule
    starves one of them, the run stops once more than `most_submitted` jobs have been submitted.
    """

    most_idle_events: float = _IDLE  # wake-ups with node events in a row, after the last submission

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
        round_end = self.clock.end_of_round if isinstance(self.clock, Rounds) else None
        self.recorder = recorder or Recorder(round_end)
        self.window = window
        self.max_rounds = max_rounds
        self.most_submitted = most_submitted
        self.terminate = False
        self.truncated = False  # ended by max_rounds or most_submitted
        self.now = 0.0
        self.rounds = 0  # rounds that were executed, without skipped ones
        self._job_state: JobState | None = None
        self._window_left = math.inf if window is None else window[1] - window[0] + 1
        self._idle = 0
        self._idle_events = 0  # wake-ups with node events since a job last ran
        self._attempts = Attempts()

    def update_cluster(self, cluster_state: ClusterState) -> None:
        """Applies the node events up to now; evicts the jobs of nodes that went down.

        Raises after many wake-ups in a row with node events, nothing running and nothing to come."""
        events = self.backend.node_events(self.now)
        for event in events:
            if self._job_state is not None:
                self._move_to(event.time_s, cluster_state, self._job_state)
                self._complete(cluster_state, self._job_state)
            before = cluster_state.node_state(event.node)
            lost = cluster_state.set_node(event.node, event.state)
            if before != event.state:
                self.recorder.node_changed(event)
            if len(lost) and self._job_state is not None:
                self._evict(lost, event, cluster_state, self._job_state)
        if events and self._job_state is not None:
            idle = self.backend.exhausted and not cluster_state.running_count
            self._idle_events = self._idle_events + 1 if idle else 0
            if self._idle_events > self.most_idle_events:
                raise _stuck(cluster_state, self._job_state)

    def update_metrics(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Moves `job_state` to the present and updates the metrics of its jobs."""
        self._job_state = job_state
        self.rounds += 1
        self._move_to(self.now, cluster_state, job_state)

    def prune_completed_jobs(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Removes jobs whose work is done, or that the termination policy ends, and frees their GPUs."""
        self._complete(cluster_state, job_state)
        ended = self.termination.terminate(job_state, cluster_state)
        if len(ended):
            ended = np.array(ended, dtype=np.int64)  # a policy may use its array again
            self.recorder.ended_early(ended, end_reasons(self.termination, ended, job_state))
            self.backend.suspend(ended, job_state)
            self._retire(ended, self.now, cluster_state, job_state)

    def pop_wait_queue(self) -> Array:
        """Every submitted job that is not admitted yet, in order of submission."""
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
        """Carries out a plan: suspends, then launches, then adjusts."""
        if len(job_state.just_admitted):
            self.recorder.admitted(job_state.just_admitted, self.now)
        job_state.just_admitted = job_state.just_finished = NO_ROWS
        if plan.wanted is not None and (fault := misfit(plan.wanted, cluster_state, job_state)) is not None:
            self._refuse(fault)
        if plan.empty:
            cluster_state.holdings.keep(plan)
        else:
            self._command(plan, cluster_state, job_state)
            self.recorder.changed(plan, cluster_state, job_state)
        self.recorder.round(cluster_state, job_state)

    def next_round(
        self, cluster_state: ClusterState, job_state: JobState, stable_until: float = -math.inf
    ) -> None:
        """Waits for the next wake-up: jumps in simulation, sleeps on a cluster.

        `stable_until`: the parts promise that without an event their decisions change nothing before then.
        """
        if self.terminate:
            return
        event = self.backend.next_event(cluster_state, job_state)
        wake = self.clock.next_wake(self.now, event, stable_until)
        if event < math.inf or cluster_state.running_count:
            self._idle = 0
        elif self._ends_idle(wake, cluster_state, job_state):
            return
        if self.max_rounds is not None:
            begun = self.clock.wakes_before(wake)
            if (self.rounds if begun < 0 else begun) >= self.max_rounds:
                # Under rounds the run ends at the boundary of the first one that is not executed.
                self.now = self.clock.round_s * self.max_rounds if isinstance(self.clock, Rounds) else wake
                self.terminate = self.truncated = True
                return
        self.now = self.backend.wait_until(wake)
        while self.now > wake and not self.event_driven:  # the round overran: continue at the next boundary
            wake = self.clock.next_wake(self.now, event, -math.inf)
            self.now = self.backend.wait_until(wake)

    def _ends_idle(self, wake: float, cluster_state: ClusterState, job_state: JobState) -> bool:
        """Returns whether the run ends here; raises when it is stuck.

        Called when nothing runs and no event is to come: a policy may still start jobs later."""
        self._idle += 1
        if wake == math.inf or self._idle > _IDLE:
            raise _stuck(cluster_state, job_state)
        return False

    def _command(self, plan: Plan, cluster_state: ClusterState, job_state: JobState) -> None:
        """Commands the backend, starts and stops the progress of jobs, and applies the plan to Holdings."""
        if len(plan.suspend):
            self._suspend(plan.suspend, job_state.columns.preemptions, job_state)
        if len(plan.move.jobs):
            self._suspend(plan.move.jobs, job_state.columns.moves, job_state)
            self._launch(plan.move, cluster_state, job_state)
        if len(plan.launch.jobs):
            self._launch(plan.launch, cluster_state, job_state)
        if len(plan.adjust.jobs):
            self.backend.adjust(plan.adjust, cluster_state, job_state)
        try:
            cluster_state.holdings.apply(plan)
        except NotFree as taken:
            self._refuse(not_free(taken, cluster_state, job_state))

    def _suspend(self, rows: Array, counter: Array, job_state: JobState) -> None:
        """Stops jobs by a plan; `counter` is the column that counts it."""
        self.backend.suspend(rows, job_state)
        job_state.stop(rows, self.now)
        counter[scalar_index(rows)] += 1

    def _launch(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Starts jobs by a plan."""
        if (fault := unusable(grants.jobs, grants.counts, job_state)) is not None:
            self._refuse(fault)
        rate, anchor = self.backend.launch(grants, cluster_state, job_state)
        job_state.start(grants.jobs, grants.counts, rate, anchor)

    def _refuse(self, fault: Misfit) -> None:
        """Stops the run with an error: the plan cannot be carried out."""
        raise BloxError(fault.what, where=f"at {self.now:.12g} s", fix=fault.fix) from None

    def _move_to(self, time_s: float, cluster_state: ClusterState, job_state: JobState) -> None:
        """Moves `job_state` to a time and updates the metrics of its jobs.

        Jobs that fail by themselves before that time are evicted first, each at the time of its failure, with
        the work done by then. A job that has finished by then does not fail."""
        job_state.now = time_s
        for failed_s, row in self.backend.failed(cluster_state, job_state):
            job_state.now = failed_s
            self.backend.collect(cluster_state, job_state)
            self._complete(cluster_state, job_state)
            if job_state.columns.held_gpus[row]:
                self._evict(job_state.one(row), None, cluster_state, job_state)
            job_state.now = time_s
        self.backend.collect(cluster_state, job_state)

    def _complete(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Removes jobs whose work is done."""
        rows, at = self.backend.completed(cluster_state, job_state)
        if len(rows):
            self._retire(np.asarray(rows, dtype=np.int64), at, cluster_state, job_state)

    def _evict(
        self, rows: Array, event: NodeEvent | None, cluster_state: ClusterState, job_state: JobState
    ) -> None:
        """Takes jobs off their GPUs at `job_state.now`: their node went down, or (no event) they failed.

        They wait again, with the work that they have saved: all of it if the event was announced.
        """
        at = job_state.now
        if event is not None and event.announced:
            self.backend.suspend(rows, job_state)
            self._stop_and_free(rows, at, cluster_state, job_state)
        else:
            saved = self.backend.lose(rows, job_state)
            self._stop_and_free(rows, at, cluster_state, job_state)
            progress.report(job_state, rows, saved, at)
            self._attempts.lost(rows, saved, job_state)
        self.recorder.evicted(rows, at, self.now, event)

    def _retire(
        self, rows: Array, at: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> None:
        """Removes finished jobs. A row without GPUs was ended while it waited, or reported its finish late.

        The finish time of a job that reported late is at the earliest the time at which it gave up its GPUs.
        """
        held = job_state.columns.held_gpus[rows]
        running = None if held[held.argmin()] else held > 0  # mask; None: all of them, as in most calls
        if running is None:
            self._stop_and_free(rows, at, cluster_state, job_state)
        else:
            at = np.where(running, at, np.maximum(at, job_state.columns.held_since[rows]))
            if running.any():
                self._stop_and_free(rows[running], at[running], cluster_state, job_state)
        job_state.finish(rows, at)
        self.recorder.finished(rows, at, running)
        if self.window is not None:
            first, last = self.window
            for row in rows.tolist():
                self._window_left -= first <= row <= last
            if not self._window_left:
                self.terminate = True

    def _stop_and_free(
        self, rows: Array, at: Array | float, cluster_state: ClusterState, job_state: JobState
    ) -> None:
        """Stops jobs and frees their GPUs, outside of any plan."""
        job_state.stop(rows, at)
        cluster_state.holdings.release(rows)

    def _stop_if_all_done(self, job_state: JobState) -> None:
        if not job_state.active_count and self.backend.exhausted:
            self.terminate = True


def end_reasons(termination: TerminationPolicy, rows: Array, job_state: JobState) -> list[str]:
    """Why a termination policy ends each of these jobs: its `reason`, or else its spec."""
    reason = declared(termination, "reason")
    if callable(reason):
        return [str(text) for text in reason(rows, job_state)]
    return [str(reason or spec_of(termination))] * len(rows)


def _stuck(cluster_state: ClusterState, job_state: JobState) -> BloxError:
    rows = job_state.active if job_state.active_count else job_state.waiting
    if not len(rows):
        return BloxError(
            "no job is left, more are to come, and the backend names no time at which anything happens",
            where=f"at {job_state.now:.12g} s",
            fix="let next_event() of the backend name the next submission",
        )
    some = ", ".join(repr(job_state.columns.job_id[row]) for row in rows[:3].tolist())
    more = ", ..." if len(rows) > 3 else ""
    held = "admitted" if job_state.active_count else "held by the admission policy"
    down = cluster_state.nodes - int(cluster_state.node_up.sum())
    lost = f"; {down} of {cluster_state.nodes} nodes are down" if down else ""
    advice = "check that the policies give every job a turn, and that the placement can place it at all"
    return BloxError(
        f"{len(rows)} jobs ({some}{more}) are {held}, nothing runs, and nothing will change any more{lost}",
        where=f"at {job_state.now:.12g} s",
        fix=f"let nodes come back, and {advice}" if down else advice,
    )
