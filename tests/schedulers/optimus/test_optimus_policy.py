"""Optimus in the loop: who gets GPUs, where, and what it learns."""

import numpy as np
import pytest

from blox import Experiment
from blox.checks import check
from blox.clock import Events
from blox.errors import BloxError
from blox.performance.elastic import EPOCHS, LOSS
from blox.registry import build
from blox.schedulers.optimus.beliefs import Learnt, remaining_s, sampled, step_table
from blox.schedulers.optimus.speed import Synchronous
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.plan import Allocation, Plan
from support.same_results import same
from support.states import admitted
from support.traces import trace

VARIANTS = (
    "optimus:form=parameter-server",
    "optimus:beliefs=learnt",
    "optimus:first=submission,interval_s=600",
    "optimus:placement=given",
    "optimus:form=parameter-server,beliefs=learnt",
    "optimus:beliefs=learnt,interval_s=900",
)


def state(*jobs, **columns):
    """Jobs as (application, GPUs, duration), all submitted at 0 and admitted."""
    models, gpus, duration_s = zip(*jobs)
    limits = {"min_gpus": [1] * len(jobs), "max_gpus": [32] * len(jobs)}
    return admitted(gpus, duration_s, model=models, **limits | columns)


@pytest.mark.parametrize("spec", VARIANTS)
def test_variants_conform(spec):
    report = check(spec, "scheduling")
    assert report.ok, report


def test_gpus_go_where_they_save_most():
    job_state, cluster_state = state(("cifar10", 4, 9000.0), ("cifar10", 4, 300.0)), _cluster("4x4")
    schedule = build("scheduling", "optimus").schedule(job_state, cluster_state)
    gpus = dict(zip(schedule.jobs.tolist(), schedule.gpus.tolist()))
    assert gpus[0] > gpus[1] >= 1
    assert {row: len(ids) for row, ids in schedule.pinned.items()} == gpus


def test_where_not_all_fit_those_with_least_to_do_go_first():
    jobs = [("cifar10", 1, duration) for duration in (900.0, 100.0, 500.0)]
    cluster_state = _cluster("1x2")
    chosen = build("scheduling", "optimus").schedule(state(*jobs), cluster_state)
    assert sorted(chosen.jobs.tolist()) == [1, 2]
    chosen = build("scheduling", "optimus:first=submission").schedule(state(*jobs), cluster_state)
    assert sorted(chosen.jobs.tolist()) == [0, 1]


def test_while_no_size_changes_jobs_keep_their_gpus():
    jobs = [("cifar10", 4, 9000.0), ("cifar10", 4, 300.0)]
    job_state, cluster_state = state(*jobs), _cluster("4x4")
    policy = build("scheduling", "optimus")
    first = policy.schedule(job_state, cluster_state)
    wanted = Allocation.from_dict(dict(first.pinned))
    cluster_state.holdings.apply(Plan.diff(cluster_state.allocation, wanted))
    progress.begin(job_state, wanted.jobs, wanted.counts, 1.0, 0.0)
    again = policy.schedule(job_state, cluster_state)
    assert {row: set(ids) for row, ids in again.pinned.items()} == {
        row: set(ids) for row, ids in first.pinned.items()
    }
    assert again.gpus.tolist() == first.gpus.tolist()


def test_jobs_that_are_not_elastic_get_what_they_ask_for():
    job_state = state(("", 3, 900.0), ("", 2, 900.0), min_gpus=[3, 2], max_gpus=[3, 2])
    schedule = build("scheduling", "optimus").schedule(job_state, _cluster("2x4"))
    assert dict(zip(schedule.jobs.tolist(), schedule.gpus.tolist())) == {0: 3, 1: 2}


def test_one_sample_means_perfect_scaling_and_more_are_fitted():
    job_state = state(("cifar10", 4, 900.0))
    learnt = Learnt({0: {4: 1.0}})
    np.testing.assert_allclose(step_table(job_state, learnt, 4, 8, "")[0], 4 / np.arange(1, 9))
    learnt = Learnt({0: {1: 3.1, 2: 1.7, 4: 1.1}})
    table = step_table(job_state, learnt, 4, 8, "")[0]
    np.testing.assert_allclose(table[[0, 1, 3]], np.array([3.1, 1.7, 1.1]) / 1.1)
    assert learnt.trust(0, 0.9) == 1.0 and Learnt({0: {1: 3.1}}).trust(0, 0.9) == 0.9


def test_losses_say_how_much_is_left():
    job_state = state(("cifar10", 1, 900.0))
    job_state.columns.done0[0] = 300.0
    learnt = Learnt()
    for epoch in range(1, 11):
        job_state.report_metric("epoch", np.array([0]), np.array([float(epoch)]))
        job_state.report_metric("loss", np.array([0]), np.array([1 / (0.5 * epoch + 1) + 0.1]))
        learnt.look(job_state)
    assert remaining_s(job_state, None).tolist() == [600.0]
    left = float(remaining_s(job_state, learnt)[0])
    assert 300 < left < 2000, "it converges in a few tens of epochs, of which ten took 300 s"


def test_what_simulated_jobs_report_says_how_much_is_left():
    job_state, learnt = state(("cifar10", 1, 900.0)), Learnt()
    for tenth in range(3):  # each a tenth of the way, at equal speed
        epoch = EPOCHS * tenth / 10
        job_state.columns.done0[0] = 90.0 * tenth
        job_state.report_metric("epoch", np.array([0]), np.array([epoch]))
        job_state.report_metric("loss", np.array([0]), np.array([1 / (LOSS[0] * epoch + LOSS[1]) + LOSS[2]]))
        learnt.look(job_state)
    assert remaining_s(job_state, learnt)[0] == pytest.approx(720, rel=0.01)
    job_state.columns.done0[0] = 260.0  # and on: nothing new is reported
    learnt.look(job_state)
    assert remaining_s(job_state, learnt)[0] == pytest.approx(640, rel=0.01)


def test_servers_are_learnt_from_samples():
    truth = Synchronous((1.6, 0.1, 0.3, 0.0, 0.0), 1.0)
    seen = {at: float(truth.step_s(*at)) for at in ((1, 1), (1, 2), (2, 4), (3, 4), (2, 2))}
    assert sampled(Learnt(with_servers={0: dict(list(seen.items())[:2])}), 0, 4) is None
    found = sampled(Learnt(with_servers={0: seen}), 0, 4)
    assert float(found.step_s(1, 4)) == pytest.approx(1.0)
    assert float(found.step_s(4, 8)) == pytest.approx(
        float(truth.step_s(4, 8) / truth.step_s(1, 4)), rel=1e-6
    )
    seen[2, 4] = 9.0
    found = sampled(Learnt(with_servers={0: seen}), 0, 4)
    assert float(found.step_s(2, 4) / found.step_s(1, 1)) == pytest.approx(9.0 / seen[1, 1])


@pytest.mark.parametrize(
    ("spec", "clock", "quantum_s"),
    [
        ("optimus", "events", 600.0),
        ("optimus:interval_s=60", "events", 1.0),
        ("optimus", "events:quantum_s=7", 7.0),
    ],
)
def test_under_the_events_clock_it_is_not_asked_every_second(spec, clock, quantum_s):
    experiment = Experiment(
        workload="elastic:jobs=3,load=60,max_gpus=8", cluster="4x4", scheduler=spec, clock=clock
    )
    assert experiment.prepare().clock == Events(quantum_s)
    result = experiment.run()
    period_s = max(quantum_s, build("scheduling", spec).interval_s)
    assert result.timing["rounds_executed"] < result.summary["end_s"] / period_s + 60, "events, and these"


@pytest.mark.parametrize("beliefs", ["oracle", "learnt"])
@pytest.mark.parametrize("clock", ["rounds", "events"])
def test_a_job_that_comes_between_two_reallocations_starts_with_the_next(tmp_path, clock, beliefs):
    """GPUs are given at 0, 600 and 1200."""
    jobs = trace(tmp_path / "t.csv", "a,0,1,3600 b,200,1,3600 c,800,1,3600")
    experiment = Experiment(
        workload=jobs, cluster="1x4", scheduler=f"optimus:interval_s=600,beliefs={beliefs}", clock=clock,
        round_s=100.0,
    )  # fmt: skip
    result = experiment.run()
    assert result.jobs["first_start_s"].tolist() == [0.0, 600.0, 1200.0]
    assert result.timing["rounds_executed"] < 20
    if clock == "rounds":
        same(result, experiment.run(skip=False))


def test_wrong_options_are_told():
    for spec in ("optimus:trust=0", "optimus:interval_s=-1", "optimus:server_cpu=0", "optimus:form=tree"):
        with pytest.raises(BloxError):
            build("scheduling", spec)


def test_elastic_jobs_finish_sooner_than_at_the_size_they_ask_for_when_there_is_room():
    base = Experiment(
        workload="elastic:jobs=30,load=5", cluster="16x4", performance="goodput", round_s=60.0, seed=2
    )
    rigid = base.run().summary["avg_jct_s"]
    for spec in ("optimus", "optimus:form=parameter-server"):
        elastic = Experiment(**{**base.to_table(), "scheduler": spec}).run().summary["avg_jct_s"]
        assert elastic < 1.05 * rigid


def _cluster(spec):
    return ClusterState(cluster_from_spec(spec))
