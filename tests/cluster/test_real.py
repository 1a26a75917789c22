"""The cluster for real: processes that train, preempted, killed, and gone when they should be."""

import re
import signal
import time

import pytest

from blox.cluster.central.records import Policies
from blox.errors import BloxError
from support.real_cluster import pid_of, processes_of, python, real_cluster, running_with
from support.waiting import PATIENCE_S, eventually


def losses(place, job, rank=0):
    """What each iteration printed, in order; an iteration that was done twice is there twice."""
    return re.findall(r"iteration (\d+) loss (\S+)", (place.job(job) / f"rank-{rank}.log").read_text())


def finished(client, job):
    """What became of a job that must have finished."""
    view = client.wait(job, PATIENCE_S)
    assert view.state == "finished", view
    return view


def preempt(client, job, node):
    """The job leaves a node, which takes jobs again afterwards."""
    before = client.job(job).epoch
    client.set_node(node, "down")
    assert eventually(
        lambda: client.job(job).state in ("waiting", "finished") or client.job(job).epoch > before
    )
    client.set_node(node, "up")
    assert eventually(lambda: client.job(job).state in ("running", "finished"))


def test_a_preempted_job_resumes_at_the_very_sample_where_it_stopped(tmp_path, slow):
    """The losses of a job that was preempted twice are those of one that was not, each iteration once."""
    script = "plain.py", "--epochs", 4, "--iteration-s", 0
    with real_cluster(tmp_path / "c", nodes=1) as (client, place):
        alone = client.submit(python(*script))
        job = client.submit(python(*script, slow_while=slow))
        assert eventually(lambda: client.job(job).iteration > 3)
        preempt(client, job, "node-0")
        preempt(client, job, "node-0")
        slow.unlink()
        assert finished(client, job).epoch == 3
        finished(client, alone)
        assert losses(place, job) == losses(place, alone)
        assert [int(i) for i, _ in losses(place, job)] == list(range(400))


@pytest.mark.slow
def test_ranks_on_several_nodes_leave_after_the_same_iteration(tmp_path, slow):
    """Ten preemptions of a job of three ranks on two nodes, each rank with random delays."""
    script = "gang.py", "--epochs", 10, "--iteration-s", 0
    with real_cluster(tmp_path / "c") as (client, place):
        job = client.submit(python(*script, "--jitter-s", 0.05, slow_while=slow), gpus=3)
        for _ in range(10):
            assert eventually(lambda: client.job(job).state == "running")
            time.sleep(0.3)
            preempt(client, job, "node-1")
        slow.unlink()
        assert finished(client, job).epoch > 10
        alone = client.submit(python(*script), gpus=3)
        assert finished(client, alone).epoch == 1
        whole = losses(place, alone)
        assert [losses(place, job, rank) for rank in range(3)] == [whole] * 3
        assert client.job(job).failures == 0


def test_a_killed_scheduler_adopts_what_runs_and_loses_nothing(tmp_path, slow):
    with real_cluster(tmp_path / "c") as (client, place):
        long = python("plain.py", "--epochs", 4, "--iteration-s", 0, slow_while=slow)
        jobs = [client.submit(long) for _ in range(3)]
        assert eventually(lambda: client.job(jobs[0]).state == "running")
        for _ in range(3):
            pid_of(place, "scheduler_process").send_signal(signal.SIGKILL)
            jobs.append(client.submit(python("plain.py", "--epochs", 1, "--iteration-s", 0)))  # meanwhile
        slow.unlink()
        views = [finished(client, job) for job in jobs]
        assert [view.epoch for view in views] == [1] * 6, "none was started twice"


def test_jobs_of_a_killed_worker_manager_go_on_from_their_checkpoint(tmp_path):
    with real_cluster(tmp_path / "c", nodes=1) as (client, place):
        job = client.submit(python("plain.py", "--epochs", 1000, "--iteration-s", 0.02))
        assert eventually(lambda: client.job(job).checkpoint >= 25)
        pid_of(place, "worker_process").send_signal(signal.SIGKILL)
        assert eventually(lambda: client.job(job).epoch == 2)
        resumed = client.job(job).checkpoint
        assert eventually(lambda: client.job(job).checkpoint > resumed + 25)
        client.cancel(job)
        view = client.wait(job, PATIENCE_S)
        assert (view.state, view.epoch) == ("cancelled", 2)
        assert "lost its node" in [entry.what for entry in view.life]
        done = [int(i) for i, _ in losses(place, job)]
        assert sorted(set(done)) == list(range(max(done) + 1))
        assert len(done) - len(set(done)) <= 25, "at most a checkpoint interval is done again"


def test_nothing_is_left_behind_when_the_supervisor_is_killed(tmp_path):
    with real_cluster(tmp_path / "c") as (client, place):
        job = client.submit(["sh", "-c", "setsid sleep 600 & sleep 600"], preemption="signal")
        assert eventually(lambda: client.job(job).state == "running")
        assert len(processes_of(place)) >= 5
        pid_of(place, "shell.supervisor").send_signal(signal.SIGKILL)
        assert eventually(lambda: not processes_of(place)), processes_of(place)


def test_a_cancelled_job_and_everything_that_it_started_are_killed(tmp_path):
    with real_cluster(tmp_path / "c", nodes=1) as (client, place):
        job = client.submit(["sh", "-c", "setsid sleep 60100 & sleep 60100"], preemption="never")
        assert eventually(lambda: client.job(job).state == "running")
        client.cancel(job)
        assert client.wait(job, PATIENCE_S).state == "cancelled"
        assert eventually(lambda: not running_with(place.root, "60100"))


def test_policies_change_while_jobs_run_and_a_script_is_preempted_by_signal(tmp_path, slow):
    with real_cluster(tmp_path / "c", nodes=1, gpus=1) as (client, place):
        first = client.submit(python("signalled.py", slow_while=slow), preemption="signal")
        assert eventually(lambda: client.job(first).state == "running")
        urgent = client.submit(python("plain.py", "--epochs", 1, "--iteration-s", 0), priority=9.0)
        client.set_policies(scheduler="fifo-priority")
        assert client.policies().scheduler == "fifo-priority"
        assert finished(client, urgent).epoch == 1
        assert client.job(first).end_s is None
        slow.unlink()
        assert finished(client, first).epoch == 2
        text = (place.job(first) / "rank-0.log").read_text()
        assert re.findall(r"iteration (\d+) ", text) == [str(n) for n in range(100)]


def test_a_job_that_does_not_expect_a_signal_dies_of_it_and_is_started_again(tmp_path):
    """Whoever preempts it, the user need not do anything for a job to give up its GPU at once."""
    with real_cluster(tmp_path / "c", nodes=1, gpus=1) as (client, place):
        first = client.submit(["sh", "-c", "echo started; sleep 600"], preemption="signal")
        assert eventually(lambda: (log := place.job(first) / "rank-0.log").exists() and log.read_text())
        urgent = client.submit(["true"], priority=9.0, preemption="signal")
        client.set_policies(scheduler="fifo-priority")
        assert finished(client, urgent).epoch == 1
        assert eventually(lambda: client.job(first).state == "running")
        assert (client.job(first).epoch, client.job(first).failures) == (2, 0)


def test_a_job_that_cannot_start_says_why(tmp_path):
    with real_cluster(tmp_path / "c", nodes=1, policies=Policies(scheduler="las")) as (client, _):
        view = client.wait(client.submit(["/no/such/command"]), PATIENCE_S)
        assert view.state.startswith("failed 3 times: exit code 127")
        assert "cannot start /no/such/command" in view.state


def test_a_second_cluster_in_the_same_directory_is_refused(tmp_path):
    with (
        real_cluster(tmp_path / "c", nodes=1),
        pytest.raises(BloxError, match="up here already"),
        real_cluster(tmp_path / "c", nodes=1),
    ):
        pass
