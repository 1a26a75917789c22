"""A run stopped at a time, where its policies are about to decide: the states to look ahead from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from blox.clock import Rounds
from blox.durations import duration_text
from blox.errors import BloxError
from blox.experiment.parts import real_speedup
from blox.experiment.prepared import Prepared
from blox.lookahead.ahead import Conditions, Policies
from blox.loop import run
from blox.manager import BloxManager
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState


@dataclass(frozen=True)
class Paused:
    """The states of a run at a time, the policies that decide there and what holds for its jobs."""

    cluster_state: ClusterState
    job_state: JobState
    policies: Policies
    conditions: Conditions


def paused_at(prepared: Prepared, at_s: float) -> Paused:
    """Runs an experiment up to the first round at or after `at_s`, until jobs have been pruned and submitted.

    With the events clock, up to that very time. Raises BloxError where the run is over before.
    """
    _check(prepared)
    parts, backend = prepared.composition, prepared.backend()
    cluster_state, job_state = prepared.states()
    manager = prepared.manager(backend)
    policies = Policies(parts.admission, parts.scheduler, parts.placement)
    wake = _first_wake(prepared, at_s)

    def stop(manager: BloxManager, job_state: JobState) -> None:
        if manager.now >= at_s and not manager.terminate:
            manager.now, manager.terminate = wake, True

    if at_s > 0:
        run(
            manager,
            cluster_state,
            job_state,
            admission=parts.admission,
            scheduler=parts.scheduler,
            placement=parts.placement,
            on_round=stop,
        )
    if manager.now < at_s:
        raise BloxError(
            f"the run ends after {manager.now / 3600:.1f} h",
            where=f"at {duration_text(at_s)}",
            fix="give a time before its end",
        )
    manager.update_cluster(cluster_state)
    manager.update_metrics(cluster_state, job_state)
    manager.prune_completed_jobs(cluster_state, job_state)
    manager.pop_wait_queue()
    backend.close()
    conditions = Conditions(
        parts.performance,
        parts.overheads,
        prepared.clock,
        parts.termination,
        prepared.experiment.round_s,
        parts.reports,
    )
    return Paused(cluster_state, job_state, policies, conditions)


def _check(prepared: Prepared) -> None:
    """Refuses a run that cannot be simulated from its middle on."""
    if prepared.experiment.compat:
        raise BloxError(
            "a preset behaves like another system, and can be simulated from its beginning only",
            where=f"compat {prepared.experiment.compat!r}",
            fix="take a run with a scheduler of blox",
        )
    if real_speedup(prepared.backend_part) is not None:
        raise BloxError(
            "a run in real time cannot be run again up to a time",
            where=f"backend {prepared.experiment.backend!r}",
            fix="take a simulation of the same experiment: --backend simulation",
        )


def _first_wake(prepared: Prepared, at_s: float) -> float:
    """The first time at or after `at_s` at which policies can decide."""
    clock = prepared.clock
    return math.ceil(at_s / clock.round_s) * clock.round_s if isinstance(clock, Rounds) else at_s
