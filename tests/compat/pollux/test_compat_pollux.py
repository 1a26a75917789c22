"""The preset of the Pollux artifact on applications made up for the purpose: options, quirks, faults."""

from pathlib import Path

import pytest

from blox import Experiment
from blox.compat.pollux.ticks import trainings_of
from blox.errors import BloxError

SHAPES = ("1", "2", "3", "4", "14", "24", "34", "44", "11", "12", "13", "22", "23", "33")


@pytest.fixture
def trace(tmp_path):
    """A function that writes a workload of lines name,time,application,replicas,batch, and gives its spec.

    `toy` has two epochs of 100 iterations; a step takes 1 s on one node and 2 s on two, whatever the batch;
    larger batches help in full.
    """
    folder = tmp_path / "applications" / "toy"
    folder.mkdir(parents=True)
    rows = [
        f"{shape},{batch},{float(len(shape))},{0.5 if shape != '1' else 0.0}"
        for shape in SHAPES
        for batch in (8, 64)
    ]
    (folder / "placements.csv").write_text(
        "placement,local_bsz,step_time,sync_time\n" + "\n".join(rows) + "\n"
    )
    for batch in (8, 64):
        (folder / f"validation-{batch}.csv").write_text(
            "epoch,progress,iteration,metric,grad_sqr,grad_var\n"
            f"0,100,{800 // batch},1.0,1e-9,1.0\n1,200,{1600 // batch},0.5,1e-9,1.0\n"
        )
    (tmp_path / "workloads").mkdir()

    def write(*lines):
        file = tmp_path / "workloads" / "w.csv"
        file.write_text("name,time,application,num_replicas,batch_size\n" + "\n".join(lines) + "\n")
        return f"pollux:{file}"

    return write


def run_preset(workload, compat, **settings):
    return Experiment(workload=workload, compat=f"pollux:{compat}", **settings).run()


def test_time_goes_in_ticks_and_nobody_starts_at_0(trace):
    result = run_preset(trace("a,0,toy,1,8", "b,61,toy,1,8"), "policy=tiresias,interval=60,nodes=2")
    # a starts at 60 and pays 30 s; 200 iterations of 1 s; b is seen at 120
    assert result.jobs["jct_s"].tolist() == [60 + 30 + 200, 120 - 61 + 30 + 200]
    assert result.jobs["first_start_s"].tolist() == [60, 120]


def test_jobs_that_span_nodes_and_share_one_slow_each_other_down(trace):
    lines = ("a,10,toy,6,8", "b,10,toy,6,8")
    alone = run_preset(trace(*lines), "policy=tiresias,nodes=3").jobs["jct_s"]
    slowed = run_preset(trace(*lines), "policy=tiresias,nodes=3,interference=0.5").jobs["jct_s"]
    waiting = 50 + 30  # for the tick, and the restart
    for with_it, without in zip(slowed.tolist(), alone.tolist()):
        assert with_it - waiting == pytest.approx(2 * (without - waiting), abs=2), (
            "epochs end in whole seconds"
        )
    apart = run_preset(trace(*lines), "policy=tiresias,nodes=4,interference=0.5").jobs["jct_s"]
    assert apart.tolist() == alone.tolist(), "on nodes of their own they do not meet"


def test_optimus_gives_gpus_while_that_helps(trace):
    result = run_preset(trace("a,10,toy,1,8"), "policy=optimus,nodes=2")
    assert result.jobs["gpu_seconds"][0] == result.jobs["run_s"][0], "a step takes as long on two GPUs"


def test_pollux_grows_the_batch_and_is_reproducible(trace):
    workload = trace("a,10,toy,1,8", "b,10,toy,1,8")
    one, same = (run_preset(workload, "policy=pollux,nodes=2", seed=1) for _ in range(2))
    assert one.jobs["jct_s"].tolist() == same.jobs["jct_s"].tolist()
    assert one.jobs["jct_s"].max() < 200, "eight times the batch, eight times the progress of a step"


def test_rounds_passed_over_change_nothing(trace):
    workload = trace("a,10,toy,2,16", "b,900,toy,1,8")
    for policy in ("optimus", "tiresias", "pollux"):
        prepared = Experiment(workload=workload, compat=f"pollux:policy={policy},nodes=2").prepare()
        assert (
            prepared.run(skip=True).jobs["jct_s"].tolist() == prepared.run(skip=False).jobs["jct_s"].tolist()
        )


def test_the_cluster_is_named_once(trace):
    workload = trace("a,10,toy,1,8")
    total = [
        int(run_preset(workload, compat, **settings).rounds["gpus_total"][0])
        for compat, settings in (
            ("policy=tiresias", {}),
            ("policy=tiresias,nodes=3", {}),
            ("policy=tiresias", {"cluster": "5x4"}),
            ("policy=tiresias,nodes=5", {"cluster": "5x4"}),
        )
    ]
    assert total == [64, 12, 20, 20]
    with pytest.raises(BloxError, match="cluster='5x4'"):
        run_preset(workload, "policy=tiresias,nodes=4", cluster="5x4")


def test_faults_are_told(trace):
    for option in ("interval=0", "nodes=0", "interference=1", "policy=fifo"):
        with pytest.raises(BloxError):
            run_preset(trace("a,10,toy,1,8"), option)
    with pytest.raises(BloxError, match="give interval"):
        run_preset(trace("a,10,toy,1,8"), "interval=60", round_s=120.0)
    with pytest.raises(BloxError, match="not measured"):
        run_preset("philly:jobs=3,max_gpus=4", "policy=optimus")
    with pytest.raises(BloxError, match="'toy' was not measured: there is no such folder") as caught:
        run_preset(trace("a,10,toy,1,8"), "applications=/nope")
    assert caught.value.where == "folder of applications /nope"
    assert "toy/placements.csv" in caught.value.fix
    assert Path(trace("a,10,toy,1,8").removeprefix("pollux:")).is_file()


def test_a_fork_of_the_state_has_trainings_of_its_own(trace):
    experiment = Experiment(workload=trace("a,0,toy,1,8"), compat="pollux:policy=tiresias,nodes=2")
    prepared = experiment.prepare()
    job_state, backend = prepared.states()[1], prepared.backend()
    backend.submit(job_state)
    fork = job_state.fork()
    trainings_of(job_state)[0].reallocate((1,))
    trainings_of(job_state)[0].advance(60.0, 0.0)
    assert trainings_of(job_state)[0].progress == 30.0  # the first 30 s are its restart
    assert (trainings_of(fork)[0].placement, trainings_of(fork)[0].progress) == ((), 0.0)
    assert trainings_of(fork)[0].application is trainings_of(job_state)[0].application  # measured once
    assert not trainings_of(prepared.states()[1]), "another run begins anew"
