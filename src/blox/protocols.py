"""The seven abstractions of the paper (Figure 1, Table 6) as protocols; their docstrings are the contract.

Admission, scheduling and placement are pure decisions: they read the two states and return a value.
Cluster management, launch, preemption and metric collection are effects: together they are a Backend, and
simulation and a real cluster differ in that object only. Nothing needs to inherit from these classes.
What a part may say beyond its verb is declared in OPTIONAL (`optional.py`) and read by `declared()`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from blox.optional import OPTIONAL, Attribute, declared
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import Allocation, Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

__all__ = [
    "OPTIONAL",
    "AdmissionPolicy",
    "Attribute",
    "Backend",
    "ClusterManagement",
    "JobLaunch",
    "JobPreemption",
    "MetricCollection",
    "PlacementPolicy",
    "SchedulingPolicy",
    "StablePart",
    "TerminationPolicy",
    "declared",
    "for_ever",
    "introduce",
    "promise_of",
]


class AdmissionPolicy(Protocol):
    """Decides which submitted jobs become schedulable. Asked every round, before scheduling."""

    def accept(self, new_jobs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The rows of `new_jobs` that enter now; the others stay in the wait queue and are offered again.

        `new_jobs` is the whole wait queue in order of submission, held jobs included. Keep no queue of
        your own. Change nothing but `job_state.memory(self, ...)`.
        """
        ...


class SchedulingPolicy(Protocol):
    """Decides in which order jobs get GPUs, and how many. Asked every round, before placement."""

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        """The jobs to run, in order. Jobs that are not listed are suspended. Same state, same answer."""
        ...


class PlacementPolicy(Protocol):
    """Decides which GPUs each scheduled job gets. Asked every round, last."""

    def place(
        self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState
    ) -> Allocation | Plan:
        """Where every job should be until the next round: every GPU once, every job whole or not at all.

        Return `cluster_state.allocation` itself when nothing is to change. Launches, preemptions and
        moves are derived from the difference. The built-in policies return that difference, a `Plan`,
        themselves; `plan.outcome(cluster_state.allocation)` is the allocation.
        """
        ...


class TerminationPolicy(Protocol):
    """Decides which jobs end before their work is done (loss converged, trial pruned).

    `reason`, where it has one, goes into the column `end_reason` of `jobs.csv`: a text, or a method
    `reason(rows, job_state)` that gives one text per row. Otherwise the policy's spec does.
    """

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        """Rows of active jobs that end now; they count as finished."""
        ...


class StablePart(Protocol):
    """A part of the scheduler that can say until when its answer stays the same. Optional, and worth it."""

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Until when this part's next answer is sure to change nothing, if nothing happens before.

        Asked after a round that changed nothing, or whose plan is settled (`Plan.settled`); under the clock
        `events` after every round. "Nothing happens": no submission, completion, node event, launch or report
        of a job. A part without this method is asked for its decision every round.
        """
        ...


class ClusterManagement(Protocol):
    """Keeps track of machines: which came, went, failed."""

    def node_events(self, now: float) -> Sequence[NodeEvent]:
        """Every change of a machine's state up to `now`, in order of time, each returned once.

        An event may lie before `now`: jobs on a machine that goes down stop at the time of the event.
        """
        ...


class JobLaunch(Protocol):
    """Starts jobs on GPUs."""

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        """Starts every job of `grants` at `job_state.now`; returns (rate, time from which work counts)."""
        ...

    def adjust(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
        """Running jobs keep their GPUs and get the rest of `grants` anew: CPUs, memory, batch, partner.

        A backend on which only GPUs decide how fast a job runs does nothing (`BackendBase` has it so).
        Another banks the progress until now and sets the rate (`progress.rebase`, `progress.set_rate`).
        """
        ...


class JobPreemption(Protocol):
    """Stops jobs so that they can go on later where they were."""

    def suspend(self, rows: Array, job_state: JobState) -> None:
        """Stops jobs at `job_state.now`, their progress kept. Also called for jobs that are ended early."""
        ...

    def lose(self, rows: Array, job_state: JobState) -> Array:
        """Jobs lose their GPUs at `job_state.now`, without warning; returns the work (s) each has saved."""
        ...


class MetricCollection(Protocol):
    """Reports how jobs fare, and which are done."""

    def submit(self, job_state: JobState) -> None:
        """Makes the jobs that were submitted up to `job_state.now` visible there."""
        ...

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Brings progress and open metrics in `job_state` up to date."""
        ...

    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        """Rows that have finished their work up to now, and when each did (or all of them)."""
        ...

    def failed(self, cluster_state: ClusterState, job_state: JobState) -> list[tuple[float, int]]:
        """(time, row) of running jobs that fail by themselves up to now, in order of time, each once.

        One that finishes before its time has not failed.
        """
        ...


class Backend(ClusterManagement, JobLaunch, JobPreemption, MetricCollection, Protocol):
    """What carries decisions out: the simulation, processes of this machine, a cluster."""

    def next_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """When something next happens by itself: submission, completion, failure, node event. inf: never."""
        ...

    def wait_until(self, time_s: float) -> float:
        """Jumps or sleeps to `time_s`; returns the time it is then."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether no further job will ever be submitted."""
        ...

    def close(self) -> None:
        """Gives everything back, whatever happened."""
        ...


def introduce(placement: object, cluster_state: ClusterState) -> None:
    """Tells a cluster what of its placement policy other parts may ask: whether nodes matter, and how."""
    cluster_state.one_pool = declared(placement, "ignores_nodes")
    cluster_state.node_rule = declared(placement, "node_rule")


Promise = Callable[[JobState, ClusterState], float]


def promise_of(part: object) -> Promise:
    """The `stable_until` of a part; one that says nothing must be asked every round, and promises -inf."""
    said: Promise | None = declared(part, "stable_until")
    return said or (lambda job_state, cluster_state: -math.inf)


def for_ever(self: object, job_state: JobState, cluster_state: ClusterState) -> float:
    """The `stable_until()` of a part whose answer never changes by itself: `stable_until = for_ever`."""
    return math.inf
