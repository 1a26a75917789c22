"""Jobs end by their loss: when it falls no more, or at a target; in simulation and on pushed metrics."""

import math

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.job_reports.loss import Loss as Curves
from blox.registry import build
from blox.results.result import Result
from blox.termination.loss import Loss
from support.states import admitted, idle_cluster

# Ten epochs of 100 s each. The loss of `flat` stands still from epoch 3 on, that of `steep` falls to the end.
FLAT = [9.0, 5.0, 4.0, *[3.999] * 7]
STEEP = [10.0 - epoch for epoch in range(10)]
COUNT = 300
HEADER = "job_id,submit_s,gpus,duration_s"


@pytest.fixture
def curves(tmp_path):
    lines = ["job_id,epoch,loss"]
    for name, losses in (("flat", FLAT), ("steep", STEEP)):
        lines += [f"{name},{epoch},{loss}" for epoch, loss in enumerate(losses, 1)]
    (tmp_path / "curves.csv").write_text("\n".join(lines) + "\n")
    return f"loss-file:path={tmp_path / 'curves.csv'}"


JOBS = "flat,0,2,1000\nsteep,0,1,1000"


@pytest.mark.parametrize(
    ("policy", "flat_s", "steep_s"),
    [
        ("completed", 1000.0, 1000.0),
        ("loss:patience=2", 500.0, 1000.0),  # 4.0 after epoch 3; not below after epochs 4 and 5
        ("loss:patience=4,threshold=0.002", 700.0, 1000.0),
        ("loss:patience=2,threshold=0.3", 400.0, 300.0),  # steep: 10, and two epochs later not below 7
        ("loss:target=4", 300.0, 700.0),
    ],
)
def test_by_hand(run, curves, policy, flat_s, steep_s):
    found = run(JOBS, termination=policy, reports=curves)
    assert found.jobs["finish_s"].tolist() == [flat_s, steep_s]


def test_the_columns_of_a_job_go_before_the_policy(run, curves):
    """`flat` has a target of its own that it never reaches, `steep` a threshold of its own."""
    header, jobs = f"{HEADER},loss_target,loss_threshold", "flat,0,2,1000,1.0,\nsteep,0,1,1000,,0.3"
    found = run(jobs, header=header, termination="loss:patience=2", reports=curves)
    assert found.jobs["finish_s"].tolist() == [1000.0, 300.0]
    found = run(jobs, header=header, termination="loss:patience=2,target=100", reports=curves)
    assert found.jobs["finish_s"].tolist() == [1000.0, 300.0]


def test_the_columns_of_a_job_are_kept_in_results_where_the_workload_has_them(run, curves, tmp_path):
    header, jobs = f"{HEADER},loss_target", "flat,0,2,1000,1.5\nsteep,0,1,1000,"
    found = run(jobs, header=header, termination="loss:patience=2", reports=curves)
    assert "loss_threshold" not in found.jobs, "no job has one"
    found.save(tmp_path / "out")
    kept = Result.load(tmp_path / "out").jobs["loss_target"]
    assert kept[0] == 1.5 and np.isnan(kept[1])
    assert not {"loss_target", "loss_threshold"} & {*run(JOBS, termination="loss", reports=curves).jobs}


def test_a_target_switches_the_threshold_off(run, curves):
    """`flat` stays above 0: it is ended by its threshold alone, and with a target runs to its end."""
    alone = run(JOBS, termination="loss:patience=2", reports=curves)
    both = run(JOBS, termination="loss:patience=2,target=0", reports=curves)
    assert alone.jobs["finish_s"][0] == 500.0 and both.jobs["finish_s"][0] == 1000.0


def test_a_job_ended_early_has_finished_with_its_reason_and_its_work_is_saved(run, curves, tmp_path):
    found = run(JOBS, termination="loss:patience=2", reports=curves)
    assert found.jobs["state"].tolist() == ["ended early", "finished"]
    assert found.jobs["end_reason"].tolist() == ["its loss fell by less than 0.2 % in 2 epochs", ""]
    assert found.jobs["saved_s"].tolist() == [500.0, 0.0]
    assert found.summary["finished"] == 2 and found.summary["ended_early"] == 1
    assert found.summary["avg_jct_s"] == 750.0
    assert found.summary["saved_gpu_hours"] == 2 * 500 / 3600
    assert found.summary["saved_share"] == 1000 / 3000
    at_target = run(JOBS, termination="loss:target=4", reports=curves)
    assert at_target.jobs["end_reason"].tolist() == ["its loss reached 4"] * 2
    found.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").jobs["saved_s"].tolist() == [500.0, 0.0]
    assert "saved_share" not in run(JOBS).summary, "where no job is ended early, nothing is said of it"


def test_a_job_that_is_suspended_goes_on_where_its_curve_was(run, curves):
    """One GPU: `steep` runs first; both take turns by LAS and end after as many epochs as by themselves."""
    jobs = "steep,0,1,1000\nflat,0,1,1000"
    found = run(jobs, cluster="1x1", scheduler="las", termination="loss:patience=2", reports=curves)
    assert found.jobs["preemptions"].sum() > 2
    assert found.jobs["run_s"].tolist() == [1000.0, 500.0]


def test_a_job_that_was_set_back_is_judged_anew(run, curves, tmp_path):
    """The node fails at 450 s, all work is lost: `flat` is back at epoch 1, and ends 500 s after that."""
    (tmp_path / "outages.csv").write_text("node,down,up\n0,450,500\n")
    found = run(
        "flat,0,2,1000",
        termination="loss:patience=2",
        reports=curves,
        failures=f"trace:{tmp_path / 'outages.csv'}",
        overheads="checkpoint=10000",
    )
    assert found.jobs["finish_s"].tolist() == [1000.0]


@pytest.mark.parametrize("clock", ["rounds", "events"])
def test_skipping_rounds_changes_nothing(clock):
    experiment = Experiment(
        workload="philly:load=40,max_gpus=4", jobs=60, cluster="4x4", termination="loss", clock=clock
    )
    skipped, executed = experiment.run(), experiment.run(skip=False)
    assert skipped.jobs["finish_s"].tolist() == executed.jobs["finish_s"].tolist()
    assert 10 < skipped.summary["ended_early"] < 60


def test_by_default_jobs_end_within_the_threshold_of_their_lowest_loss():
    """Jobs of 100 epochs of an hour: three quarters of them need little more than 40 of these."""
    workload = f"constant:duration_s=360000,jobs={COUNT},every_s=0"
    found = Experiment(workload=workload, cluster=f"{COUNT}x1", termination="loss").run()
    assert 0.35 < found.summary["saved_share"] < 0.45
    state, epoch = admitted([1] * COUNT), (found.jobs["run_s"] / 3600).round()
    curves, rows = Curves(), np.arange(COUNT)
    last, lowest = (curves.report(rows, at, state)["loss"] for at in (epoch, np.full(COUNT, 100.0)))
    assert (last <= 1.002 * lowest).all()


def pushed(policy, *reports):
    """Which of two jobs a policy ends after each round in which they have pushed (loss, epoch)."""
    state, cluster = admitted([1, 1]), idle_cluster("1x2")
    ended = []
    for loss, epoch in reports:
        state.report_metric("loss", np.array([0]), np.array([loss]))
        state.report_metric("epoch", np.array([0]), np.array([epoch]))
        ended.append(policy.terminate(state, cluster).tolist())
    return ended


def test_metrics_that_jobs_push_are_enough():
    """As on a cluster: no curve is known, one job pushes nothing, and epochs need not be counted."""
    policy, unknown = Loss(patience=2), math.nan
    assert pushed(policy, (5.0, unknown), (4.0, unknown), (4.0, unknown), (4.0, unknown)) == [[]] * 4
    assert pushed(policy, (5.0, unknown), (4.0, unknown), (3.999, unknown), (4.001, unknown))[-1] == [0]
    assert pushed(policy, (5.0, 1), (4.0, 2), (4.0, 4))[-1] == [0], "two epochs in one report"
    assert pushed(policy, (-1.0, 1), (-2.0, 2), (-2.001, 3), (-2.001, 4))[-1] == [0], "losses below 0"
    assert pushed(Loss(target=0.5), (0.6, 1), (0.5, 2)) == [[], [0]]


def test_a_metric_that_nothing_reports_is_refused_before_the_run():
    with pytest.raises(BloxError, match="reads the metric 'loss', and no job reports it"):
        Experiment(termination="loss", reports="none").prepare()


def test_epochs_are_reported_by_every_source(tmp_path):
    """A policy may name them among what it reads."""
    (tmp_path / "mine.py").write_text(
        """from dataclasses import dataclass

@dataclass(frozen=True)
class AfterThree:
    \"\"\"Ends jobs after three epochs.\"\"\"

    reads_metrics = ("loss", "epoch")

    def terminate(self, job_state, cluster_state):
        return job_state.active[job_state.metric("epoch") >= 3]
"""
    )
    found = Experiment(
        workload="philly:load=10", jobs=5, termination=f"{tmp_path / 'mine.py'}:AfterThree"
    ).run()
    assert found.summary["saved_share"] > 0.1


@pytest.mark.parametrize("options", ["threshold=0", "threshold=1.5", "patience=0"])
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(BloxError, match=options.partition("=")[0]):
        build("termination", f"loss:{options}")
