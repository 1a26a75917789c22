"""Two jobs on the same GPUs: who holds what, who stays when one leaves, and how fast each is."""

from __future__ import annotations

import numpy as np
import pytest

from blox import Experiment
from blox.backends.feed import JobFeed
from blox.backends.setup import BackendSetup
from blox.performance.by_throughput import ByThroughput
from blox.performance.job_speeds import job_speeds
from blox.placement.walk.pinned import place_pinned
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.jobs import JobState
from blox.state.plan import Allocation, Plan
from blox.state.schedule import Schedule
from support.no_slower import NO_SLOWER
from support.states import admitted, idle_cluster, job_table

A3C, RESNET = "A3C", "ResNet-18 (batch size 16)"


def states(models, cluster="k80=2x2"):
    return idle_cluster(cluster), admitted([1] * len(models), 1000.0, model=models)


def shared(pinned, partner):
    rows = np.array(list(pinned))
    return Schedule(
        rows, pinned=pinned, share_group=np.array([partner.get(row, -1) for row in rows.tolist()])
    )


def test_two_jobs_hold_one_gpu_that_counts_once():
    cluster, jobs = states([A3C] * 3)
    wanted = place_pinned(shared({0: (1,), 1: (1,), 2: (2,)}, {0: 1, 1: 0}), cluster, jobs)
    cluster.holdings.apply(wanted)
    assert cluster.allocation.as_dict() == {0: (1,), 1: (1,), 2: (2,)}
    assert cluster.free_gpus == 2 and cluster.free_ids().tolist() == [0, 3]
    assert cluster.node_free.tolist() == [1, 1]
    assert [cluster.allocation.gpus_of(job).tolist() for job in range(4)] == [[1], [1], [2], []]


@pytest.mark.parametrize("leaves", [0, 1])
def test_when_one_leaves_the_other_has_the_gpu_for_itself(leaves):
    cluster, jobs = states([A3C] * 3)
    cluster.holdings.apply(place_pinned(shared({0: (1,), 1: (1,), 2: (2,)}, {0: 1, 1: 0}), cluster, jobs))
    cluster.holdings.release(np.array([leaves]))
    stays = 1 - leaves
    assert cluster.allocation.as_dict() == {stays: (1,), 2: (2,)}
    assert cluster.free_gpus == 2 and cluster.owner.tolist() == [-1, stays, 2, -1]
    assert cluster.allocation.share_group.tolist() == [-1, -1]
    cluster.holdings.release(np.array([stays]))
    assert cluster.allocation.as_dict() == {2: (2,)} and cluster.free_gpus == 3


def test_both_leave_at_once():
    cluster, jobs = states([A3C] * 2)
    cluster.holdings.apply(place_pinned(shared({0: (1,), 1: (1,)}, {0: 1, 1: 0}), cluster, jobs))
    cluster.holdings.release(np.array([0, 1]))
    assert cluster.free_gpus == 4 and not len(cluster.allocation.jobs)


def test_a_fork_shares_nothing_with_its_origin():
    cluster, jobs = states([A3C] * 2)
    cluster.holdings.apply(place_pinned(shared({0: (1,), 1: (1,)}, {0: 1, 1: 0}), cluster, jobs))
    twin = cluster.fork()
    twin.holdings.release(np.array([0]))
    assert cluster.allocation.as_dict() == {0: (1,), 1: (1,)}
    assert twin.allocation.as_dict() == {1: (1,)}


def test_who_gets_another_partner_is_adjusted_not_moved():
    cluster, jobs = states([A3C] * 3)
    cluster.holdings.apply(place_pinned(shared({0: (1,), 1: (1,), 2: (2,)}, {0: 1, 1: 0}), cluster, jobs))
    plan = Plan.diff(
        cluster.allocation,
        place_pinned(shared({0: (1,), 2: (1,), 1: (2,)}, {0: 2, 2: 0}), cluster, jobs),
    )
    assert plan.adjust.jobs.tolist() == [0] and sorted(plan.move.jobs.tolist()) == [1, 2]
    alone = Plan.diff(
        cluster.allocation, place_pinned(Schedule(np.array([0, 2]), pinned={0: (1,), 2: (2,)}), cluster, jobs)
    )
    assert alone.suspend.tolist() == [1] and alone.adjust.jobs.tolist() == [0]


def test_a_node_that_fails_takes_both_along():
    cluster, jobs = states([A3C] * 3)
    cluster.holdings.apply(place_pinned(shared({0: (1,), 1: (1,), 2: (2,)}, {0: 1, 1: 0}), cluster, jobs))
    assert cluster.set_node(0, "down").tolist() == [0, 1]


def simulated(models, duration_s, cluster="k80=1x2"):
    """A backend with these jobs, all on the first GPU, or job i on GPU i where there are several."""
    jobs = job_table([1] * len(models), duration_s, model=models)
    cluster_state, job_state = idle_cluster(cluster), JobState()
    feed = JobFeed(iter((jobs,)), 2, lambda batch: batch)
    backend = ByThroughput.simulation(BackendSetup(feed, ByThroughput()))
    backend.submit(job_state)
    job_state.add_new_jobs(job_state.waiting)
    return backend, cluster_state, job_state


def start(backend, cluster_state, job_state, schedule):
    plan = Plan.diff(cluster_state.allocation, place_pinned(schedule, cluster_state, job_state))
    for grants in (plan.launch,):
        rate, anchor = backend.launch(grants, cluster_state, job_state)
        job_state.start(grants.jobs, grants.counts, rate, anchor)
    if len(plan.adjust.jobs):
        backend.adjust(plan.adjust, cluster_state, job_state)
    cluster_state.holdings.apply(plan)


def rates(cluster="k80"):
    known = job_speeds("", (cluster,))
    a, r = known.kind(A3C, 0, 1), known.kind(RESNET, 0, 1)
    return {
        "a alone": known.alone(a)[0] / known.base(a),
        "r alone": known.alone(r)[0] / known.base(r),
        "a beside r": known.beside(a, r)[0] / known.base(a),
        "r beside a": known.beside(r, a)[0] / known.base(r),
        "r steps": known.beside(r, a)[0],
    }


def test_a_job_goes_on_alone_from_the_moment_that_its_partner_ends():
    backend, cluster, jobs = simulated([A3C, RESNET], [600.0, 6000.0])
    start(backend, cluster, jobs, shared({0: (0,), 1: (0,)}, {0: 1, 1: 0}))
    known = rates()
    assert jobs.metric("steps_per_s")[1] == pytest.approx(known["r steps"], rel=1e-12)
    first_s = 600.0 / known["a beside r"]
    second_s = first_s + (6000.0 - first_s * known["r beside a"]) / known["r alone"]
    assert backend.next_event(cluster, jobs) == pytest.approx(first_s, rel=1e-12)
    jobs.now = first_s + 77.0
    rows, ends = backend.completed(cluster, jobs)
    assert rows.tolist() == [0] and np.atleast_1d(ends).tolist() == pytest.approx([first_s], rel=1e-12)
    jobs.stop(rows, ends)
    cluster.holdings.release(rows)
    jobs.finish(rows, ends)
    assert backend.next_event(cluster, jobs) == pytest.approx(second_s, rel=1e-12)
    assert jobs.done_s()[0] == pytest.approx(
        first_s * known["r beside a"] + 77.0 * known["r alone"], rel=1e-12
    )
    jobs.now = second_s + 1.0
    rows, ends = backend.completed(cluster, jobs)
    assert rows.tolist() == [1] and float(ends) == pytest.approx(second_s, rel=1e-12)


def test_both_may_end_in_the_same_round():
    backend, cluster, jobs = simulated([A3C, RESNET], [600.0, 700.0])
    start(backend, cluster, jobs, shared({0: (0,), 1: (0,)}, {0: 1, 1: 0}))
    jobs.now = 1e6
    rows, ends = backend.completed(cluster, jobs)
    known = rates()
    first_s = 600.0 / known["a beside r"]
    assert rows.tolist() == [0, 1]
    if 700.0 / known["r beside a"] > first_s:
        left = 700.0 - first_s * known["r beside a"]
        assert ends.tolist() == pytest.approx([first_s, first_s + left / known["r alone"]], rel=1e-12)


def test_a_partner_who_is_taken_away_leaves_the_gpu_to_the_other():
    backend, cluster, jobs = simulated([A3C, RESNET], [600.0, 6000.0])
    start(backend, cluster, jobs, shared({0: (0,), 1: (0,)}, {0: 1, 1: 0}))
    jobs.now = 500.0
    backend.suspend(np.array([0]), jobs)
    jobs.stop(np.array([0]), 500.0)
    start(backend, cluster, jobs, Schedule(np.array([1]), pinned={1: (0,)}))
    known = rates()
    ends = 500.0 + (6000.0 - 500.0 * known["r beside a"]) / known["r alone"]
    assert backend.next_event(cluster, jobs) == pytest.approx(ends, rel=1e-12)


@pytest.mark.parametrize("nodes", [2, 300])
@pytest.mark.parametrize("leaves", [0, 1])
def test_what_a_partner_keeps_is_not_free(nodes, leaves):
    """Two share the GPUs 0 and 1, a third is on 4; one of the two leaves after everything was asked for."""
    cluster = ClusterState(cluster_from_spec(f"{nodes}x4"))
    rows = lambda *numbers: np.array(numbers, dtype=np.int64)  # noqa: E731
    cluster.holdings.replace(
        Allocation(rows(0, 1, 2), rows(2, 2, 1), rows(0, 1, 0, 1, 4), share_group=rows(1, 0, -1))
    )
    before = (cluster.free_ids()[:3].tolist(), cluster.node_free[:2].tolist(), cluster.largest_free)
    cluster.holdings.release(rows(leaves))
    assert before == (cluster.free_ids()[:3].tolist(), cluster.node_free[:2].tolist(), cluster.largest_free)
    assert before[:2] == ([2, 3, 5], [2, 3])
    assert cluster.free_gpus == 4 * nodes - 3 == len(cluster.free_ids())


def test_a_shared_gpu_counts_once_in_every_round(tmp_path):
    """Two jobs of two GPUs share the only two there are."""
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,2,1000\nb,0,2,2000\n")
    (tmp_path / "pair.py").write_text(
        NO_SLOWER
        + """
@dataclass(frozen=True)
class Pair:
    \"\"\"Everybody on the same two GPUs.\"\"\"

    def schedule(self, job_state, cluster_state):
        jobs = job_state.active.copy()
        partner = 1 - jobs if len(jobs) == 2 else None
        return Schedule(jobs, pinned={row: (0, 1) for row in jobs.tolist()}, share_group=partner)
"""
    )
    found = Experiment(
        workload=str(tmp_path / "jobs.csv"),
        cluster="1x2",
        scheduler=f"{tmp_path / 'pair.py'}:Pair",
        performance=f"{tmp_path / 'pair.py'}:NoSlower",
        placement="consolidated",
    ).run()
    assert found.rounds["gpus_used"].max() == 2
    assert found.rounds["free_gpus"].min() == 0


def test_a_job_whose_partner_fails_goes_on_alone_from_then_on():
    backend, cluster, jobs = simulated([A3C, RESNET], [600.0, 6000.0])
    start(backend, cluster, jobs, shared({0: (0,), 1: (0,)}, {0: 1, 1: 0}))
    jobs.now = 50.0
    lost = np.array([0])
    assert backend.lose(lost, jobs).tolist() == [0.0], "it has not saved anything"
    jobs.stop(lost, 50.0)
    cluster.holdings.release(lost)
    known = rates()
    ends = 50.0 + (6000.0 - 50.0 * known["r beside a"]) / known["r alone"]
    assert backend.next_event(cluster, jobs) == pytest.approx(ends, rel=1e-12)
    assert cluster.allocation.as_dict() == {1: (0,)}


def test_two_jobs_that_share_are_lost_together():
    backend, cluster, jobs = simulated([A3C, RESNET], [600.0, 6000.0])
    start(backend, cluster, jobs, shared({0: (0,), 1: (0,)}, {0: 1, 1: 0}))
    jobs.now = 50.0
    lost = cluster.set_node(0, "down")
    assert lost.tolist() == [0, 1]
    assert backend.lose(lost, jobs).tolist() == [0.0, 0.0]
    jobs.stop(lost, 50.0)
    cluster.holdings.release(lost)
    assert backend.next_event(cluster, jobs) == float("inf")
