"""A workload on real processes: what happened becomes a result of the same form as a simulation's."""

import dataclasses
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from blox import Experiment
from blox.cluster.protocol.queries import JobView, LifeEntry
from blox.cluster.recorded import Timeline, result_of
from blox.cluster.replay import _due_s, replay
from blox.errors import BloxError
from blox.experiment.prepared import Prepared
from blox.explain import Explanation
from blox.results.result import Result
from support.real_cluster import processes_under, running_with
from support.traces import trace
from support.waiting import PATIENCE_S, eventually


def view(job, end_s, *life):
    entries = tuple(LifeEntry(*entry) for entry in life)
    return JobView(job, "", "", 2, "finished", (), 0.0, end_s, 1, 0, -1, -1, (), life=entries)


def test_what_happened_is_worked_out_as_in_a_simulation(tmp_path):
    """The cluster's time 10 s is 0 s, and runs 60 times as fast. `a` is preempted at 2 minutes, for one
    minute."""
    jobs = trace(tmp_path / "jobs.csv", "a,0,2,200 b,30,2,60")
    prepared = Prepared(Experiment(workload=jobs, cluster="1x4", round_s=60.0))
    placed = "placed on node-0"
    first = [(10.0, "submitted"), (10.0, placed, (0, 1)), (12.0, "preempted"), (13.0, placed, (2, 3))]
    second = [(10.5, "submitted"), (11.0, placed, (2, 3)), (13.0, "finished")]
    views = [view(1, 14.5, *first, (15.0, "finished")), view(2, 12.2, *second)]
    result = result_of(prepared, Timeline.of(views, 10.0, 60.0), {})
    assert result.jobs["first_start_s"].tolist() == [0.0, 60.0]
    assert result.jobs["finish_s"].tolist() == pytest.approx([270.0, 132.0])
    assert result.jobs["run_s"].tolist() == pytest.approx([210.0, 72.0])
    assert result.jobs["preemptions"].tolist() == [1, 0]
    assert sorted(result.stints["start_s"].tolist()) == [0, 0, 60, 60, 180, 180]


@pytest.mark.parametrize("told_s", [11.9, 12.0, 12.1])
def test_a_start_that_is_told_late_holds_no_gpus(tmp_path, told_s):
    """`a` is preempted at 12 s by `b`; its node says at `told_s` that it has started.

    A round is noted at its boundary however late it is executed, so the later entry can have the earlier
    time.
    """
    jobs = trace(tmp_path / "jobs.csv", "a,0,2,200 b,30,2,60")
    prepared = Prepared(Experiment(workload=jobs, cluster="1x2", round_s=30.0))
    placed, preempted, started = "placed on node-0", (12.0, "preempted"), (told_s, "started", (0, 1))
    life = [(10.0, placed, (0, 1)), started, preempted, (13.5, placed, (0, 1))]
    after = [(10.0, placed, (0, 1)), preempted, started, (13.5, placed, (0, 1))]
    second = view(2, 13.2, (12.0, placed, (0, 1)), (12.1, "started", (0, 1)), (13.5, "finished"))
    for first in (life, after):
        views = [view(1, 15.5, *first, (16.0, "finished")), second]
        result = result_of(prepared, Timeline.of(views, 10.0, 60.0), {})
        assert result.jobs["run_s"].tolist() == pytest.approx([240.0, 72.0])
        assert result.jobs["preemptions"].tolist() == [1, 0]


def as_lived(result, begin_s, speedup):
    """The jobs of a simulation as a cluster tells of them, whose decisions are noted at its rounds."""
    jobs, stints, views = result.jobs, result.stints, []
    for row, end_s in enumerate(jobs["finish_s"].tolist()):
        own = stints["job"] == row
        times = [(float(jobs["admit_s"][row]), "admitted", ())]
        for start_s in np.unique(stints["start_s"][own]).tolist():
            here = own & (stints["start_s"] == start_s)
            stop_s = float(stints["end_s"][here][0])
            times.append((start_s, "placed on node-0", tuple(stints["gpu"][here].tolist())))
            times.append((stop_s, "preempted" if stop_s < end_s else "finished", ()))
        entries = [(begin_s + at / speedup, *rest) for at, *rest in times]
        views.append(view(row, begin_s + end_s / speedup, *entries))
    return views


@pytest.mark.parametrize(
    "policies",
    [
        {"scheduler": "fifo"},
        {"scheduler": "fifo", "admission": "threshold:factor=1.2"},
        {"scheduler": "las"},
        {"scheduler": "sjf", "placement": "consolidated"},
    ],
    ids=lambda policies: "+".join(policies.values()),
)
def test_causes_of_waiting_are_those_of_a_simulation(tmp_path, policies):
    """A submission is seen by the next round, GPUs that come free inside a round are given by the next one,
    and what the policies hold back waits for them."""
    rows = "a,0,3,2000 b,30,2,600 c,400,1,700 d,650,4,500 e,700,1,100 f,700,1,100 g,3000,1,100"
    jobs = trace(tmp_path / "jobs.csv", rows)
    experiment = Experiment(workload=jobs, cluster="2x2", round_s=300.0, **policies)
    simulated = experiment.run()
    views = as_lived(simulated, 1234.5, 77.7)
    told = result_of(Prepared(experiment), Timeline.of(views, 1234.5, 77.7), {})
    expected = {cause: seconds.sum() for cause, seconds in Explanation(simulated).waits().items()}
    found = {cause: seconds.sum() for cause, seconds in Explanation(told).waits().items()}
    assert found == pytest.approx(expected, abs=0.01) and expected["arrival"] > 0


@pytest.mark.parametrize("job", [pytest.param("sleep", marks=pytest.mark.slow), "train"])
def test_a_replay_gives_results_like_a_simulation(tmp_path, job):
    """Two jobs fill the cluster, a third waits for both. Processes start late, never early, and no time of
    the run lies beyond the time that it took."""
    jobs = trace(tmp_path / "jobs.csv", "a,0,2,300 b,0,2,600 c,0,4,300")
    experiment = Experiment(workload=jobs, cluster="1x4", round_s=100.0)
    began = time.monotonic()
    result = replay(experiment, speedup=200.0, job=job)
    took_s = 200.0 * (time.monotonic() - began)
    simulated = experiment.run()
    finish_s = result.jobs["finish_s"]
    assert (finish_s - simulated.jobs["finish_s"] >= -10).all() and (finish_s < took_s).all(), finish_s
    assert result.jobs["first_start_s"][2] >= 600
    result.save(tmp_path / "out")
    loaded = Result.load(tmp_path / "out")
    assert loaded.jobs["job_id"].tolist() == ["a", "b", "c"]
    assert loaded.experiment["backend"] == f"replay:speedup=200,job={job}"


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["fifo", "las"])
def test_twenty_jobs_finish_as_in_the_simulation(tmp_path, scheduler):
    """With queueing and with preemption, against a simulation in which a start takes as long as in the run.

    Rounds are four real seconds. Jobs are submitted in the middle of a round and last some rounds and a half,
    so that every event is two real seconds away from the boundary at which it would matter. Under FIFO every
    JCT is within 2 % plus half a round. Under LAS, where every start of every job shifts who is next, it is
    within 2 % plus two rounds, and the mean within 10 %. All of these are in rounds: a machine that is too
    busy for rounds of four seconds is given rounds of 16, and then of 64.
    """
    rng = np.random.default_rng(7)
    rounds, gpus, lengths = np.sort(rng.integers(0, 5, 20)), rng.integers(1, 3, 20), rng.integers(0, 4, 20)
    rows = [(i, 60 * r + 30, g, 60 * n + 30) for i, (r, g, n) in enumerate(zip(rounds, gpus, lengths))]
    workload = trace(tmp_path / "jobs.csv", rows)
    experiment = Experiment(workload=workload, cluster="3x2", scheduler=scheduler, round_s=60.0)
    speedup = 15.0
    while not as_simulated(experiment, replay(experiment, speedup, job="sleep").jobs):
        speedup /= 4
        assert speedup > 0.9, "not even with rounds of a minute"


def as_simulated(experiment, real):
    """Whether the jobs of a run, all of which must have finished, did so when the simulation says."""
    start_s = np.mean((real["run_s"] - real["duration_s"]) / (real["preemptions"] + 1))
    overheads = f"launch={start_s:.3f},restart={start_s:.3f}"
    simulated = dataclasses.replace(experiment, overheads=overheads).run().jobs
    assert len(real["jct_s"]) == 20 and (real["state"] == "finished").all()
    assert (simulated["queueing_s"] > 60.0).any()
    within_s = 30.0 if experiment.scheduler == "fifo" else 120.0
    off_s = np.abs(real["jct_s"] - simulated["jct_s"])
    if experiment.scheduler == "las" and min(each["preemptions"].sum() for each in (real, simulated)) <= 10:
        return False
    means = np.mean(real["jct_s"]), np.mean(simulated["jct_s"])
    return (off_s < 0.02 * real["jct_s"] + within_s).all() and means[0] == pytest.approx(means[1], rel=0.1)


def test_jobs_are_there_in_the_round_in_which_a_simulation_sees_them():
    """Rounds of 10 real seconds: those at 0 and at 600 are submitted early, those behind a round after it."""
    assert _due_s(0.0, 600.0, 60.0) == pytest.approx(-0.5)
    assert _due_s(600.0, 600.0, 60.0) == pytest.approx(9.5)
    assert _due_s(601.0, 600.0, 60.0) == pytest.approx(10.5)
    assert _due_s(900.0, 600.0, 60.0) == pytest.approx(14.5)


def test_where_rounds_are_short_jobs_are_submitted_in_the_middle_of_one():
    """Rounds of half a real second: whatever is late by less than a quarter changes nothing."""
    assert [_due_s(at, 30.0, 60.0) for at in (0.0, 1.0, 29.0, 30.0)] == pytest.approx([-0.25, *[0.25] * 3])


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        signal.SIGKILL,
    ],
)
def test_no_process_outlives_a_replay(tmp_path, ending):
    """Scheduler, worker managers, guards and jobs end with it, however it ends."""
    jobs = trace(tmp_path / "jobs.csv", "a,0,1,36000 b,0,1,36000")
    command = [
        sys.executable,
        "-m",
        "blox",
        "replay",
        jobs,
        "--cluster",
        "1x2",
        "--round",
        "30",
        "--job",
        "sleep",
    ]
    started = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in a shell's background
    )
    try:
        assert eventually(
            lambda: len(running_with(tmp_path, "sleep.py")) == 4
        )  # two jobs, and a guard for each
        started.send_signal(ending)
        started.wait(PATIENCE_S)
    finally:
        started.kill()
        started.wait()
    assert started.returncode != 0
    assert eventually(lambda: not processes_under(tmp_path)), processes_under(tmp_path)


def test_nodes_of_different_sizes_are_refused():
    experiment = Experiment(workload="constant:jobs=2", cluster="a=1x2,b=1x4")
    with pytest.raises(BloxError, match="differ in their number of GPUs"):
        replay(experiment, 60.0)


@pytest.mark.parametrize("speedup", [0.0, -1.0, float("inf"), float("nan")])
def test_a_speedup_that_cannot_be_is_refused(speedup):
    with pytest.raises(BloxError, match="speedup"):
        replay(Experiment(workload="constant:jobs=2", cluster="1x2"), speedup)


def test_an_unknown_job_is_refused():
    with pytest.raises(BloxError, match="no job 'dance'"):
        replay(Experiment(workload="constant:jobs=2", cluster="1x2"), job="dance")


def test_a_scheduler_that_raises_in_a_simulation_is_reported_before_anything_runs(
    tmp_path, policy_file, monkeypatch
):
    late = policy_file(
        """
        @dataclass(frozen=True)
        class Mine:
            def schedule(self, job_state, cluster_state):
                if job_state.now >= 300:
                    raise ValueError("too late")
                return Schedule.ordered(job_state, by=job_state.submit_s)
        """
    )
    jobs = trace(tmp_path / "jobs.csv", "a,0,2,300 b,0,2,600 c,0,4,300")
    experiment = Experiment(workload=jobs, cluster="1x4", scheduler=late, round_s=100.0)
    monkeypatch.setattr("blox.cluster.replay.local_cluster", lambda *_, **__: pytest.fail("it started"))
    with pytest.raises(BloxError, match="at 300 s: schedule\\(\\) raises ValueError: too late"):
        replay(experiment, job="sleep")
