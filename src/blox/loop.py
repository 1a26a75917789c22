"""execute_round(): the paper's Figure 2, once. run(): round after round, and the rule for skipping some.

A round is skipped only if it provably changes nothing. After a round whose plan was empty, or whose placement
guarantees that a second call would change nothing, the loop skips to the backend's next event or to the
earliest time at which a part says that its answer may change, whichever comes first."""

from __future__ import annotations

import math
from collections.abc import Callable

from blox.manager import BloxManager
from blox.protocols import AdmissionPolicy, PlacementPolicy, SchedulingPolicy, declared, for_ever
from blox.recording.decisions import DecisionTrace
from blox.recording.wait_reasons import WaitReasons
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan


def execute_round(
    manager: BloxManager,
    cluster_state: ClusterState,
    job_state: JobState,
    admission: AdmissionPolicy,
    scheduler: SchedulingPolicy,
    placement: PlacementPolicy,
    reasons: WaitReasons | None = None,
) -> Plan:
    """Executes the round at `manager.now`; returns the plan, carried out. `reasons` notes why jobs wait."""
    manager.update_cluster(cluster_state)
    manager.update_metrics(cluster_state, job_state)
    manager.prune_completed_jobs(cluster_state, job_state)
    new_jobs = manager.pop_wait_queue()
    if len(new_jobs):
        job_state.add_new_jobs(admission.accept(new_jobs, cluster_state, job_state))
    schedule = scheduler.schedule(job_state, cluster_state)
    wanted = placement.place(schedule, cluster_state, job_state)
    plan = wanted if isinstance(wanted, Plan) else Plan.diff(cluster_state.allocation, wanted)
    if reasons is not None and not reasons.decided(schedule, plan, cluster_state, job_state):
        reasons = None
    del schedule, wanted  # unless a policy kept the schedule, its order need not be computed
    job_state.settle_lines()
    manager.exec_jobs(plan, cluster_state, job_state)
    if reasons is not None:
        reasons.carried_out(cluster_state, job_state)
    return plan


def run(
    manager: BloxManager,
    cluster_state: ClusterState,
    job_state: JobState,
    *,
    admission: AdmissionPolicy,
    scheduler: SchedulingPolicy,
    placement: PlacementPolicy,
    skip: bool = True,
    on_round: Callable[[BloxManager, JobState], None] | None = None,
    trace: DecisionTrace | None = None,
    note_reasons: bool = True,
) -> None:
    """Runs the loop until the manager says that it is over. `skip=False` executes every round.

    `note_reasons=False`: policies are not asked why jobs wait (asking can cost more than deciding), and
    `trace` is unused. Otherwise `trace` records what every executed round decides.
    """
    parts = (admission, scheduler, placement, manager.termination)
    promises = [promise for part in parts if (promise := declared(part, "stable_until"))]
    skip = skip and len(promises) == len(parts)  # a part that says nothing is asked every round
    promises = [promise for promise in promises if getattr(promise, "__func__", None) is not for_ever]
    event_driven, worth_asking = manager.event_driven, True
    cluster_state.promised_until = -math.inf  # what other policies promised does not count
    reasons = WaitReasons(manager.recorder, admission, scheduler, placement, trace) if note_reasons else None
    while not manager.terminate:
        plan = execute_round(manager, cluster_state, job_state, admission, scheduler, placement, reasons)
        stable, before = -math.inf, manager.now
        if event_driven or (skip and ((plan.settled and worth_asking) or plan.empty)):
            stable = math.inf
            for promise in promises:
                stable = min(stable, promise(job_state, cluster_state))
        cluster_state.promised_until = stable
        manager.next_round(cluster_state, job_state, stable)
        if not event_driven:
            # Asking pays if the promise outlasts the next round (`manager.now`) by more than the time since
            # the last one (`manager.now - before`). It does not if every round reshuffles the jobs: then ask
            # again once a round changes nothing.
            worth_asking = stable > 2 * manager.now - before or plan.empty
        if on_round is not None:
            on_round(manager, job_state)
