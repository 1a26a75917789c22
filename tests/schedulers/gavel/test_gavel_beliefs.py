"""What Gavel believes of jobs' speeds: known, known but for noise, learnt from what they report."""

from __future__ import annotations

import numpy as np
import pytest

from blox.experiment.settings import Experiment
from blox.performance.throughputs import throughputs
from blox.placement.walk.pinned import place_pinned
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.beliefs import Noisy, Oracle
from blox.schedulers.gavel.learnt import Learnt, references
from blox.schedulers.gavel.policies.by_name import POLICIES
from blox.state.schedule import Schedule
from support.states import admitted, idle_cluster
from support.traces import WITH_MODEL, trace

MODELS = ["A3C", "CycleGAN", "LM (batch size 20)", "Recommendation (batch size 2048)"]


def states(models=MODELS, cluster="v100=1x4,p100=1x4,k80=1x4"):
    return idle_cluster(cluster), admitted([1] * len(models), 1e5, seed=4, model=models)


def relative(cluster, jobs):
    speed, base = Oracle().alone(jobs.active, cluster, jobs)
    return speed / base[:, None]


def test_noise_stays_with_a_job():
    cluster, jobs = states()
    noisy = Noisy(sigma=0.3)
    first, _ = noisy.alone(jobs.active, cluster, jobs)
    again, _ = noisy.alone(jobs.active[2:], cluster, jobs)
    truth, _ = Oracle().alone(jobs.active, cluster, jobs)
    assert np.array_equal(first[2:], again)
    assert 0.05 < np.abs(np.log(first / truth)).mean() < 0.6
    pairs = noisy.pairs(jobs.active, cluster, jobs)
    assert (pairs.throughput[0, 1] / first[0] <= 1 + 1e-9).all()


def test_a_job_that_never_ran_is_taken_for_an_average_one():
    cluster, jobs = states()
    speed, base = Learnt().alone(jobs.active, cluster, jobs)
    assert base.tolist() == [1.0] * 4 and np.ptp(speed, axis=0).max() < 1e-9
    assert speed[0, 0] == 1.0 and 0.4 < speed[0, 1] < 1.2 and 0.05 < speed[0, 2] < 0.5


def test_what_a_job_reports_is_known_from_then_on():
    cluster, jobs = states()
    pinned = {0: (4,), 1: (5,), 2: (6,), 3: (7,)}  # all on P100s
    cluster.holdings.apply(place_pinned(Schedule(jobs.active, pinned=pinned), cluster, jobs))
    steps, _ = Oracle().alone(jobs.active, cluster, jobs)
    jobs.report_metric("steps_per_s", jobs.active, steps[:, 1])
    learnt = Learnt()
    learnt.observe(cluster, jobs)
    speed, _ = learnt.alone(jobs.active, cluster, jobs)
    truth = relative(cluster, jobs)
    assert speed[:, 1] == pytest.approx(truth[:, 1], rel=1e-9)
    assert np.corrcoef(speed[:, 2], truth[:, 2])[0, 1] > 0.5  # and the K80s can be guessed from it


def test_wholly_profiled_jobs_are_taken_for_what_they_are():
    cluster, jobs = states()
    like = Learnt(profiled=1.0, packed=True).pairs(jobs.active, cluster, jobs).kind
    found = references("", cluster.gpu_types)[0][like]
    assert found == pytest.approx(relative(cluster, jobs), rel=1e-9)


@pytest.mark.parametrize(
    ("policy", "close"), [("max_min_fairness_perf", 0.15), ("max_min_fairness_packed", 0.25)]
)
def test_learning_comes_close_to_knowing(policy, close):
    jct = {}
    for belief in ("oracle", "learnt"):
        run = Experiment(
            workload="gavel:load=3,jobs=100,job_types=true",
            cluster="v100=2x4,p100=2x4,k80=2x4",
            scheduler=f"gavel:policy={policy},belief={belief}",
            round_s=360.0,
            seed=1,
        ).run()
        assert run.summary["finished"] == 100
        jct[belief] = run.summary["avg_jct_s"]
    assert jct["learnt"] == pytest.approx(jct["oracle"], rel=close)


def test_that_two_jobs_cannot_share_is_found_out():
    table = throughputs()
    (one, other), rates = next(
        (pair, rates) for pair, rates in table.beside.items() if min(rates) == 0 < max(rates)
    )
    cluster, jobs = states([one[0], other[0]])
    learnt = Learnt(packed=True)
    like = learnt.pairs(jobs.active, cluster, jobs).kind
    can = learnt.tried(np.array([[0, 1]]), cluster, jobs)[0]
    assert can.tolist() == [rates[table.gpu_types.index(name)] > 0 for name in cluster.gpu_types]
    measured = jobs.memory(learnt, dict).beside[0]
    assert (measured[like[1]][~can] == 0).all()


def finishes(path, policy, jobs, cluster, seed=0):
    """When each job is done, where speeds are learnt; jobs are (submission, GPUs, duration, model)."""
    rows = [(f"j{place}", *job) for place, job in enumerate(jobs)]
    workload = trace(path / "jobs.csv", rows, WITH_MODEL)
    scheduler = f"gavel:policy={policy},belief=learnt"
    run = Experiment(workload=workload, cluster=cluster, scheduler=scheduler, round_s=360.0, seed=seed).run()
    return run.jobs["finish_s"].tolist()


WIDE = (0, 4, 36_000, "ResNet-50 (batch size 64)")  # two of these are taken to be able to share, and cannot


def test_of_jobs_that_cannot_share_after_all_fifo_runs_the_older(tmp_path):
    assert finishes(tmp_path, "fifo_packed", [WIDE] * 3, "v100=1x4") == [36_000, 72_000, 108_000]


def test_of_jobs_that_cannot_share_on_one_type_fifo_runs_the_older_there(tmp_path):
    models = ["LM (batch size 80)", "Transformer (batch size 256)"]  # together on a P100, not on a V100
    jobs = [(0, 1, 36_000, model) for model in models]
    assert finishes(tmp_path, "fifo_packed", jobs, "v100=1x1", seed=1) == [36_000, 72_000]


@pytest.mark.parametrize(
    "policy", sorted(name for name in POLICIES if "_packed" in name and not name.startswith("fifo"))
)
def test_jobs_that_cannot_share_after_all_take_turns_with_others(policy, tmp_path):
    """Two jobs of all GPUs do not wait for the end of a long small one."""
    small = (0, 1, 360_000, "A3C")
    first, second, last = finishes(tmp_path, policy, [WIDE, WIDE, small], "v100=1x4")
    assert 72_000 <= first <= second < last
    assert second - first < 20 * 360.0


def test_time_of_a_pair_goes_to_its_members_where_they_cannot_share():
    members = np.array([[0, -1], [1, -1], [2, -1], [0, 1], [1, 2]])
    fractions = np.array([[0.1, 0.0], [0.0, 0.0], [0.0, 0.5], [0.4, 0.2], [0.2, 0.0]])
    found = Allocation(members, fractions).parted(np.array([[False, True], [False, False]]), first=0.5)
    assert found.fractions == pytest.approx(
        np.array([[0.3, 0.0], [0.3, 0.0], [0.1, 0.5], [0.0, 0.2], [0.0, 0.0]])
    )
