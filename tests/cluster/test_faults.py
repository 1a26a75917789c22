"""Real faults: processes killed and stopped at seeded times, a full disk, submissions during restarts.

What must hold is read from the jobs' own records (`support/faults.py`): no slot and no job with two live
processes of different epochs, no epoch twice or after a later one, every acknowledged job ended once or
failed with a reason, no process left behind.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from blox import Experiment
from blox.cluster import Client
from blox.cluster.central.records import Policies
from blox.cluster.protocol.timing import Timing
from blox.cluster.replay import Play, jobs_of
from blox.cluster.shell.place import Place
from blox.errors import BloxError
from support.faults import Faults, check, command, ended, records_of
from support.real_cluster import processes_of, real_cluster
from support.waiting import PATIENCE_S, eventually

# The margin covers a kill on a busy machine, on which a guard or a disk stands still for seconds.
TIMING = Timing(round_s=0.5, heartbeat_s=0.25, lease_s=8, margin_s=8, grace_s=3, backoff_s=0.3, attempts=20)
LONGEST_STOP_S = 19.0  # some stops outlast lease and margin
# Nothing ends because of a lease: where a test is about who else ends it.
LONG_LEASE = Timing(round_s=0.5, heartbeat_s=0.25, lease_s=600, margin_s=60, grace_s=3, backoff_s=0.3)
# Jobs that have received more make room for others, once: not so often that the machine does nothing else.
POLICIES = Policies(scheduler="tiresias:threshold=8")


@contextlib.contextmanager
def cluster(tmp_path, nodes, gpus, timing=TIMING):
    """A cluster that is checked for processes left behind, and a directory for its jobs' records."""
    records = tmp_path / "records"
    records.mkdir()
    with real_cluster(tmp_path / "c", nodes, gpus, POLICIES, timing) as (client, place):
        yield client, place, records
    assert eventually(lambda: not processes_of(place)), processes_of(place)


def test_nothing_is_lost_when_any_part_is_killed_or_stopped(tmp_path):
    """One of each: the scheduler, a worker manager, a rank and its guard, while jobs are submitted."""
    with cluster(tmp_path, nodes=2, gpus=2) as (client, place, records):
        over = tmp_path / "over"
        words = command(records, 2.0, until=over)
        jobs = [client.submit(words, gpus=n, preemption="signal") for n in (1, 2, 1)]
        faults = Faults(place, seed=1)
        assert eventually(lambda: len(faults.processes("fault_job")) >= 3)
        faults.stop("fault_job", 0.5)
        faults.kill("guard.py")
        faults.kill("scheduler_process")
        jobs.append(client.submit(command(records, 0.5), preemption="signal"))
        faults.kill("worker_process")
        assert eventually(lambda: faults.kill("fault_job"))
        faults.resume(everything=True)
        over.touch()
        views = ended(client, jobs)
        assert [views[job].state for job in jobs] == ["finished"] * 4
        lines = check(records, views, jobs, place)
        assert max(line["epoch"] for line in lines) > 1
        assert all([entry.what for entry in client.job(job).life].count("finished") == 1 for job in jobs)


def test_guards_that_were_stopped_still_end_their_ranks(tmp_path):
    """One of a job that is cancelled, and one whose worker manager dies: the rank has no lease any more."""
    with cluster(tmp_path, nodes=2, gpus=1, timing=LONG_LEASE) as (client, place, records):
        faults, over = Faults(place, seed=1), tmp_path / "over"

        def stopped(job):
            assert eventually(lambda: list(records.glob(f"{job}-*.jsonl")))
            assert faults.stop("fault_job", 600)
            assert faults.stop("guard.py", 600)

        words = command(records, 1.0, until=over)
        jobs = [client.submit(words, preemption="signal")]
        stopped(jobs[0])
        client.cancel(jobs[0])
        assert eventually(lambda: not faults.processes("fault_job"))
        jobs.append(client.submit(words, preemption="signal"))
        stopped(jobs[1])
        over.touch()
        for process in faults.processes("worker_process"):
            process.kill()
        views = ended(client, jobs)
        assert [views[job].state for job in jobs] == ["cancelled", "finished"]
        assert max(line["epoch"] for line in check(records, views, jobs, place)) > 1


@pytest.mark.slow
def test_the_scheduler_is_killed_fifty_times_during_a_replay(tmp_path):
    """60 jobs of the Philly-like workload within a minute, 20 s at most, one of which is cancelled.

    SIGKILL comes at seeded times, also while the scheduler starts, but every other time only after it has
    answered: on a busy machine it would never get that far otherwise.
    """
    experiment = Experiment(workload="philly:load=60,jobs=60,max_gpus=4", cluster="4x4")
    entries = list(jobs_of(Play(60.0).prepare(experiment)))
    with cluster(tmp_path, nodes=4, gpus=4) as (client, place, records):
        faults, over = Faults(place, seed=18), threading.Event()

        def kill():
            with Client(place.root, patience_s=PATIENCE_S) as own:
                while (done := faults.done["SIGKILL scheduler_process"]) < 50 and not over.is_set():
                    if done % 2:
                        own.policies()
                    over.wait(faults.rng.uniform(0.0, 4.0))
                    eventually(lambda: faults.kill("scheduler_process") or over.is_set())

        killing = threading.Thread(target=kill)
        killing.start()
        began, jobs = time.monotonic(), []
        for entry in entries:
            time.sleep(max(0.0, began + entry["submit_s"] / 60.0 - time.monotonic()))
            words = command(records, min(20.0, entry["duration_s"] / 60.0))
            jobs.append(client.submit(words, gpus=faults.rng.randint(1, 3), preemption="signal"))
        with contextlib.suppress(BloxError):  # it may have ended
            client.cancel(jobs[-1])
        killing.join(6 * PATIENCE_S)
        over.set()
        views = ended(client, jobs)
        assert faults.done["SIGKILL scheduler_process"] == 50
        check(records, views, jobs, place)
        states = [views[job].state for job in jobs]
        assert states.count("finished") >= 59, states
        assert client.policies().fault == ""
        restarted = sum(views[job].failures for job in jobs)
        assert restarted == 0, "the scheduler's death is no reason for a job to fail"


@pytest.mark.slow
def test_workers_ranks_and_guards_are_killed_and_stopped(tmp_path):
    """Sixty seeded faults while 40 jobs run; some stops outlast the lease, which ends a node's processes.

    Four more jobs work on until the last fault, so that there is something left to harm.
    """
    with cluster(tmp_path, nodes=4, gpus=2) as (client, place, records):
        faults, over = Faults(place, seed=7), tmp_path / "over"
        jobs = [
            client.submit(command(records, 1.0, until=over), gpus=2, preemption="signal") for _ in range(4)
        ]
        for size in [faults.rng.choice((1, 1, 2, 3)) for _ in range(40)]:
            words = command(records, faults.rng.uniform(1.0, 8.0))
            jobs.append(client.submit(words, gpus=size, preemption="signal"))
        for number in range(60):
            time.sleep(faults.rng.uniform(0.2, 1.5))
            faults.misfortune(LONGEST_STOP_S)
            if number % 10 == 5:
                assert eventually(lambda: faults.kill("scheduler_process"))
                jobs.append(client.submit(command(records, 1.0), preemption="signal"))
        faults.resume(everything=True)
        over.touch()
        views = ended(client, jobs)
        check(records, views, jobs, place)
        assert sum(faults.done.values()) == 66, faults.done
        assert [views[job].state for job in jobs].count("finished") >= 44


def test_nothing_is_left_when_blox_up_is_killed(tmp_path):
    """`blox up` as users type it, a job that starts processes of its own, and kill -9 of the supervisor."""
    here = {**os.environ, "BLOX_CLUSTER": str(tmp_path / "c")}

    def blox(*words):
        words = [sys.executable, "-m", "blox", *words]
        return subprocess.run(
            words, env=here, check=True, capture_output=True, text=True, timeout=PATIENCE_S
        ).stdout

    blox("up", "--round", "0.5", "--heartbeat", "0.3")
    place = Place.of(tmp_path / "c")
    faults = Faults(place, seed=1)
    blox("submit", "--preemption", "signal", "--", "sh", "-c", "setsid sleep 987 & sleep 987")
    assert eventually(lambda: len(faults.processes("987")) >= 2)
    assert faults.kill("shell.supervisor")
    assert eventually(lambda: not processes_of(place)), processes_of(place)
    assert "no cluster is up" in blox("down")


def test_a_job_that_ended_while_nobody_could_be_told_does_not_run_again(tmp_path):
    """The scheduler stands still for longer than a lease; the worker manager that knows of the end is
    killed."""
    timing = Timing(round_s=0.5, heartbeat_s=0.25, lease_s=4, margin_s=1, grace_s=2, backoff_s=0.3)
    with cluster(tmp_path, nodes=1, gpus=1, timing=timing) as (client, place, records):
        faults, over = Faults(place, seed=1), tmp_path / "over"
        job = client.submit(command(records, 0.0, until=over), preemption="never")
        assert eventually(lambda: client.job(job).state == "running")
        began = time.monotonic()
        assert faults.stop("scheduler_process", 600)
        over.touch()
        known = place.node("node-0") / "ended"
        assert eventually(lambda: list(known.iterdir()))
        (before,) = faults.processes("worker_process")
        before.kill()
        assert eventually(lambda: any(each.pid != before.pid for each in faults.processes("worker_process")))
        assert eventually(lambda: time.monotonic() > began + timing.lease_s + timing.margin_s + 1)
        faults.resume(everything=True)
        views = ended(client, [job])
        assert (views[job].state, views[job].epoch) == ("finished", 1)
        assert len({line["epoch"] for line in check(records, views, [job], place)}) == 1
        assert eventually(lambda: not list(known.iterdir())), "the scheduler has answered"


@contextlib.contextmanager
def small_disk(directory, size):
    """A file system of so many bytes at a directory; skips where none can be mounted."""
    directory.mkdir(parents=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(directory)])
    if made.returncode:
        pytest.skip("a small file system (tmpfs) cannot be mounted here: needs root")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def fill(directory):
    """Leaves no room, also where some has become free since the last time; returns the ballast."""
    ballast = directory / "ballast"
    with contextlib.suppress(OSError), open(ballast, "ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return ballast


@pytest.mark.slow
def test_a_full_disk_of_checkpoints_fails_jobs_in_words_and_they_go_on_afterwards(tmp_path):
    """Jobs cannot save, fail, say why, and are tried again; with room they go on from what they had saved."""
    with small_disk(tmp_path / "c" / "jobs", "400k"), cluster(tmp_path, 1, 2) as (client, place, records):
        over = tmp_path / "over"
        words = command(records, 2.0, 50_000, until=over)
        jobs = [client.submit(words, preemption="signal") for _ in range(2)]
        assert eventually(lambda: all((place.job(j) / "checkpoint" / "done.json").exists() for j in jobs))
        ballast = tmp_path / "c" / "jobs" / "ballast"
        assert eventually(lambda: fill(ballast.parent) and all(client.job(job).failures for job in jobs))
        told = [entry.what for entry in client.job(jobs[0]).life]
        assert any("No space left on device" in what for what in told), told
        ballast.unlink()
        over.touch()
        views = ended(client, jobs)
        assert [views[job].state for job in jobs] == ["finished"] * 2
        lines = check(records, views, jobs, place)
        resumed = [line["done_s"] for line in lines if line["what"] == "start" and line["epoch"] > 1]
        assert max(resumed) > 0.0


@pytest.mark.slow
def test_a_full_disk_of_the_journal_acknowledges_nothing_and_loses_nothing(tmp_path):
    """What cannot be stored is not acknowledged; with room again the scheduler goes on where it was."""
    with small_disk(tmp_path / "c", "6m"), cluster(tmp_path, 1, 2) as (client, place, records):
        over = tmp_path / "over"
        jobs = [client.submit(command(records, 2.0, until=over), preemption="signal")]
        assert eventually(lambda: client.job(jobs[0]).state == "running")
        with Client(place.root) as impatient, pytest.raises(BloxError):
            for _ in range(200):  # some may still fit into pages that the journal has
                ballast = fill(tmp_path / "c")
                jobs.append(impatient.submit(command(records, 0.2), preemption="signal"))
        ballast.unlink()
        over.touch()
        jobs.append(client.submit(command(records, 0.2), preemption="signal"))
        views = ended(client, jobs)
        assert {views[job].state for job in jobs} == {"finished"}
        check(records, views, jobs, place)
        assert client.watch().term > 1, "the scheduler has ended, and started again"


def test_records_of_a_job_name_what_is_wrong(tmp_path):
    """The job of these tests bites: a second process in the same slot, or under an old epoch, says so."""
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()

    def start(epoch, slot):
        own = {"BLOX_JOB": "1", "BLOX_EPOCH": str(epoch), "RANK": "0", "CUDA_VISIBLE_DEVICES": str(slot)}
        own |= {"BLOX_RANK_DIRECTORY": "/nodes/a/rank", "BLOX_CHECKPOINT": str(checkpoint)}
        return subprocess.Popen(command(tmp_path, 60.0), env={**os.environ, **own})

    def wrong():
        return {(line["epoch"], line["why"]) for line in records_of(tmp_path) if line["what"] == "violation"}

    running = [start(2, 0)]
    try:
        assert eventually(lambda: len(records_of(tmp_path)) == 1)
        running += [start(1, 1), start(3, 0)]
        old = {(1, "epoch-1-2 is alive"), (1, "epoch-1-2 has started before this one")}
        second = {(3, "the slot has a live process"), (3, "epoch-1-2 is alive")}
        assert eventually(lambda: old | second <= wrong()), wrong()
    finally:
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.wait()
