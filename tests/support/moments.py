"""A run stopped in the middle of a round, where policies decide: done jobs are pruned, new ones wait."""

import math
from dataclasses import dataclass

from blox.lookahead.ahead import Conditions, Policies
from blox.protocols import promise_of
from blox.state.plan import Plan


@dataclass
class Moment:
    """The states of a run that can go on."""

    prepared: object
    manager: object
    cluster_state: object
    job_state: object

    @property
    def policies(self):
        parts = self.prepared.composition
        return Policies(parts.admission, parts.scheduler, parts.placement)

    @property
    def conditions(self):
        parts = self.prepared.composition
        return Conditions(
            parts.performance,
            parts.overheads,
            self.prepared.clock,
            parts.termination,
            self.prepared.experiment.round_s,
            parts.reports,
        )

    @property
    def true_work_s(self):
        return self.prepared.feed.duration_s[: self.job_state.submitted]


def moments(experiment):
    """Every round of a run, at the point where its policies decide."""
    prepared = experiment.prepare()
    backend = prepared.backend()
    cluster_state, job_state = prepared.states()
    manager = prepared.manager(backend)
    parts = prepared.composition
    while not manager.terminate:
        manager.update_cluster(cluster_state)
        manager.update_metrics(cluster_state, job_state)
        manager.prune_completed_jobs(cluster_state, job_state)
        manager.pop_wait_queue()
        yield Moment(prepared, manager, cluster_state, job_state)
        if len(job_state.waiting):
            job_state.add_new_jobs(parts.admission.accept(job_state.waiting, cluster_state, job_state))
        schedule = parts.scheduler.schedule(job_state, cluster_state)
        wanted = parts.placement.place(schedule, cluster_state, job_state)
        manager.exec_jobs(Plan.diff(cluster_state.allocation, wanted), cluster_state, job_state)
        stable = -math.inf
        if manager.event_driven:
            policies = (parts.admission, parts.scheduler, parts.placement, parts.termination)
            stable = min(promise_of(policy)(job_state, cluster_state) for policy in policies)
        manager.next_round(cluster_state, job_state, stable)
    backend.close()
