"""A fork never changes its origin, and goes on as the origin would have."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox.checks.probe import _fingerprint as fingerprint
from blox.state.plan import Plan
from support.examples import examples
from support.worlds import worlds

EXAMPLES = examples(60)


def one_round(prepared, manager, cluster_state, job_state):
    """One turn of the loop up to the plan, on whichever states."""
    parts = prepared.composition
    if len(job_state.waiting):
        job_state.add_new_jobs(parts.admission.accept(job_state.waiting, cluster_state, job_state))
    schedule = parts.scheduler.schedule(job_state, cluster_state)
    return Plan.diff(cluster_state.allocation, parts.placement.place(schedule, cluster_state, job_state))


@EXAMPLES
@given(worlds(clocks=("rounds",)), st.integers(0, 12))
def test_a_fork_never_changes_its_origin_and_decides_like_it(world, rounds_before):
    prepared = dataclasses.replace(world.experiment(), max_rounds=10_000).prepare()
    backend = prepared.backend()
    cluster_state, job_state = prepared.states()
    manager = prepared.manager(backend)
    for _ in range(rounds_before):
        if manager.terminate:
            break
        manager.update_cluster(cluster_state)
        manager.update_metrics(cluster_state, job_state)
        manager.prune_completed_jobs(cluster_state, job_state)
        manager.pop_wait_queue()
        fork_jobs, fork_cluster = job_state.fork(), cluster_state.fork()
        before, memory = fingerprint(job_state, cluster_state), repr(job_state._memory)
        assert fingerprint(fork_jobs, fork_cluster) == before
        forked = one_round(prepared, manager, fork_cluster, fork_jobs)
        ruin(fork_jobs, fork_cluster, forked)
        assert fingerprint(job_state, cluster_state) == before
        assert repr(job_state._memory) == memory
        plan = one_round(prepared, manager, cluster_state, job_state)
        for ours, theirs in ((plan.launch, forked.launch), (plan.move, forked.move)):
            assert ours.as_dict() == theirs.as_dict()
        assert sorted(plan.suspend.tolist()) == sorted(forked.suspend.tolist())
        manager.exec_jobs(plan, cluster_state, job_state)
        manager.next_round(cluster_state, job_state)


def ruin(job_state, cluster_state, plan):
    """Does to a fork what a run, a node failure and a careless synthesizer might do."""
    job_state.stop(plan.suspend, job_state.now)
    job_state.start(plan.launch.jobs, plan.launch.counts, 1.0, job_state.now)
    cluster_state.holdings.apply(plan)
    for node in range(cluster_state.nodes):
        cluster_state.set_node(node, "down")
    everybody = job_state.active
    job_state.finish(everybody, np.full(len(everybody), job_state.now))
    job_state.report_metric("loss", everybody, np.ones(len(everybody)))
    job_state.memory("somebody", list).append(1)
    for name in ("gpus", "priority", "done0", "held0"):
        getattr(job_state.columns, name)[:] = 77
    job_state.now = -1.0
