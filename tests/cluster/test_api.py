"""A cluster from Python: submit, wait, what happens as it happens, what was printed."""

import signal
import threading
import time

import pytest

import blox.cluster
from blox.cluster import Client, Timing, local_cluster
from blox.cluster.api import _printed
from blox.cluster.shell.guard import CUT_BYTES, Log, left_out
from blox.errors import BloxError
from support.real_cluster import EXAMPLES, TIMING, pid_of, processes_under, python, real_cluster
from support.waiting import PATIENCE_S, eventually

SPEAKS = "for i in range(3): print('line', i, flush=True)"
# Says the rest when it has been heard.
WAITS = """
import os, time
print("line 0", flush=True)
while not os.path.exists("heard"):
    time.sleep(0.02)
print("line 1\\nline 2")
"""


def test_what_the_package_offers():
    assert blox.cluster.__all__ == ["Client", "Timing", "local_cluster"]
    assert all(getattr(blox.cluster, name) for name in blox.cluster.__all__)
    with pytest.raises(AttributeError):
        blox.cluster.Unknown  # noqa: B018


def test_what_no_message_can_hold_is_refused_in_words(tmp_path):
    """Before anything is sent: there is no cluster."""
    client = Client(tmp_path, patience_s=0.0)
    with pytest.raises(BloxError, match="Submit: a number is too large"):
        client.submit(["true"], gpus=10**20)
    with pytest.raises(BloxError, match="Cancel: a number is too large"):
        client.cancel(10**20)
    with pytest.raises(BloxError, match=r"Submit: a text is not Unicode: 'caf\\udce9'"):
        client.submit(["caf\udce9"])


def test_a_job_is_submitted_watched_and_read(tmp_path, monkeypatch):
    """One cluster for all of it: starting one takes longer than the rest."""
    monkeypatch.chdir(tmp_path)
    with local_cluster(2, 2, scheduler="las", timing=TIMING, directory=tmp_path / "c") as cluster:
        job = cluster.submit(
            ["python3", "-c", SPEAKS],
            gpus=2,
            name="speaker",
            environment={"GREETING": "hello"},
            preemption="signal",
            expected_s=60.0,
        )
        happened = [entry.what.partition(" on node-")[0] for entry in cluster.events(job)]
        assert happened == ["submitted", "admitted", "placed", "started", "finished"]
        view = cluster.wait(job, 1.0)
        assert (view.state, view.name, view.gpus) == ("finished", "speaker", 2)
        assert list(cluster.log(job, rank=1)) == ["line 0", "line 1", "line 2"]
        assert [each.job for each in cluster.jobs()] == [job]
        assert {node.node for node in cluster.nodes()} == {"node-0", "node-1"}
        _follow(cluster, tmp_path)
        _refusals(cluster)
        _policies_count_from_here(cluster, tmp_path)
        process = processes_under(tmp_path / "c")
    assert process and eventually(lambda: not processes_under(tmp_path / "c"))
    with pytest.raises(BloxError, match="no cluster is up here"):
        Client(tmp_path / "c", patience_s=0.0).jobs()


def _follow(cluster, directory):
    """Lines come as they are printed, whole; the stream ends with the job."""
    job = cluster.submit(["python3", "-c", WAITS], preemption="signal")
    lines = []
    for line in cluster.log(job, follow=True):
        lines.append(line)
        (directory / "heard").touch()  # without which the job would not end
    assert lines == ["line 0", "line 1", "line 2"]


def _refusals(cluster):
    with pytest.raises(BloxError, match="has not ended after 0 s: it is"):
        cluster.wait(endless := cluster.submit(["sleep", "600"], preemption="signal"), 0.0)
    cluster.cancel(endless)
    assert cluster.wait(endless, PATIENCE_S).state == "cancelled"
    for arguments, says in (
        ({"command": []}, "no command"),
        ({"gpus": 5}, "needs 5 GPUs, and the cluster has 4"),
        ({"gpus": "two"}, "not a job: Expected `int`"),
        ({"expected_s": -1.0}, "expected_s is -1"),
        ({"launch": "rocket"}, "no launch is called 'rocket'"),
        ({"min_gpus": 3, "gpus": 2}, "min_gpus 3"),
    ):
        with pytest.raises(BloxError, match=says) as refused:
            cluster.submit(**{"command": ["true"], **arguments})
        assert refused.value.fix
    with pytest.raises(BloxError, match="there is no job 99"):
        cluster.job(99)
    with pytest.raises(TypeError):
        cluster.submit(["true"], colour="red")


def _policies_count_from_here(cluster, directory):
    policy = EXAMPLES.parent / "my_policy.py"
    (directory / "mine.py").write_text(policy.read_text().replace("class Ageing", "class Mine"))
    cluster.set_policies(scheduler="./mine.py:Mine")
    assert cluster.policies().scheduler == f"{directory / 'mine.py'}:Mine"


@pytest.mark.slow
def test_waiting_goes_on_while_the_scheduler_is_killed_and_started_again(tmp_path):
    """The one connection that a client keeps is made anew."""
    with real_cluster(tmp_path / "c", nodes=1) as (client, place):
        job = client.submit(python("plain.py", "--epochs", 1, "--iteration-s", 0.05))
        assert eventually(lambda: client.job(job).state == "running")
        seen = []
        watcher = threading.Thread(target=lambda: seen.extend(entry.what for entry in client.events(job)))
        watcher.start()
        for _ in range(2):
            pid_of(place, "scheduler_process").send_signal(signal.SIGKILL)
            time.sleep(1.0)
        assert client.wait(job, PATIENCE_S).state == "finished"
        watcher.join(PATIENCE_S)
        assert seen[0] == "submitted" and seen[-1] == "finished" and len(seen) == len(set(seen))


def test_a_log_that_is_cut_while_it_is_followed_goes_on_where_it_was(tmp_path):
    """Each line is read once; of those that were cut before they were read the log says how many bytes."""
    file, position, lines = tmp_path / "rank-0.log", 0, []
    log = Log(str(file), 1000)
    for number in range(500):
        log.write(b"line %d\n" % number)
        if number % 7 == 0:
            text, position = _printed(file, position)
            lines += text.decode().splitlines()
    assert file.stat().st_size < 1000 and file.read_bytes().startswith(b"[...]\n")
    assert lines == [f"line {number}" for number in range(498)]
    for number in range(500, 700):
        log.write(b"line %d\n" % number)
    late, _ = _printed(file, position)
    assert late.startswith(b"[...]\n") and late.endswith(b"line 699\n")
    whole = sum(len(b"line %d\n" % number) for number in range(700))
    assert left_out(late[:CUT_BYTES]) + len(late) - CUT_BYTES == whole


def test_a_log_that_was_replaced_is_read_from_its_beginning(tmp_path):
    file = tmp_path / "rank-0.log"
    file.write_bytes(b"new\n")
    assert _printed(file, 1000) == (b"new\n", 4)


def test_timing_that_cannot_be_is_refused():
    with pytest.raises(BloxError, match="lease_s is 5"):
        Timing(lease_s=5.0)


def test_a_cluster_whose_start_is_interrupted_is_taken_down(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("blox.cluster.shell.local._answering", interrupted)
    with pytest.raises(KeyboardInterrupt), local_cluster(directory=tmp_path / "c"):
        pass
    assert eventually(lambda: not processes_under(tmp_path)), processes_under(tmp_path)
