"""Real training with PyTorch: preempted at an iteration boundary by all ranks at once, resized, signalled."""

import random
import re
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from blox.cluster.central.records import Policies
from blox.cluster.protocol.timing import Timing
from support import zygote
from support.real_cluster import EXAMPLES, PACED, TIMING, processes_of, real_cluster
from support.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.torch
TRAINING = EXAMPLES.parent / "training"
LINE = re.compile(r"iteration (\d+) loss (\S+)(?: samples \[(.*)\])?")


def lines(place, job, rank=0):
    """(iteration, loss, samples) of every iteration that a rank has printed, in order."""
    return LINE.findall((place.job(job) / f"rank-{rank}.log").read_text())


def falls(place, job):
    losses = [float(loss) for _, loss, _ in lines(place, job)]
    tenth = len(losses) // 10
    return sum(losses[-tenth:]) < 0.7 * sum(losses[:tenth])


@contextmanager
def forked(directory):
    """The beginning of a command that starts a script in a process with torch imported already."""
    path = str(directory / "zygote")
    command = [sys.executable, zygote.__file__, "serve", path]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as server:
        assert eventually(lambda: Path(path).exists() or server.poll() is not None)
        yield [sys.executable, "-S", "-E", zygote.__file__, "run", path]
        server.stdin.close()


def test_two_hundred_preemptions_of_four_ranks_leave_after_the_same_iteration_each(tmp_path):
    """Three jobs of four ranks on four nodes, every rank with random delays, nodes sent down at random times.

    Every rank prints every iteration once: had one left earlier or later than another, it would have an
    iteration twice, or the job would hang and be killed. Samples and losses are those of a job that was never
    preempted, to the last digit.
    """
    rng = random.Random(0)
    timing = Timing(round_s=0.3, heartbeat_s=0.25, lease_s=200, margin_s=10, grace_s=120, backoff_s=0.5)
    with forked(tmp_path) as start, real_cluster(tmp_path / "c", 4, 3, timing=timing) as (client, place):
        train = [*start, str(TRAINING / "ddp.py"), "--exact", "--epochs", "30", "--pause-s"]
        alone = client.submit([*train, "0"], gpus=4)
        assert client.wait(alone, PATIENCE_S).state == "finished"
        whole = [lines(place, alone, rank) for rank in range(4)]
        jobs, preempted = [], 0
        while preempted < 200:
            running = [job for job in jobs if client.job(job).end_s is None]
            for _ in range(3 - len(running)):
                jobs.append(client.submit([*train, "0.01", "--jitter-s", "0.03"], gpus=4))
            node = f"node-{rng.randrange(4)}"
            time.sleep(rng.uniform(0.0, 1.0))
            client.set_node(node, "down")
            assert eventually(lambda node=node: not on_node(client, node)), client.jobs()
            client.set_node(node, "up")
            assert eventually(lambda: under_way(client)), client.jobs()
            preempted = sum(max(0, client.job(job).epoch - 1) for job in jobs)
        views = [client.wait(job, PATIENCE_S) for job in jobs]
        assert [view.state for view in views] == ["finished"] * len(jobs)
        assert sum(view.failures for view in views) == 0
        assert {entry.what for view in views for entry in view.life} & {"killed", "failed"} == set()
        for job in jobs:
            assert [lines(place, job, rank) for rank in range(4)] == whole
        assert max(view.epoch for view in views) > 10
        print(f"{preempted} preemptions of {len(jobs)} jobs, up to {max(v.epoch - 1 for v in views)} of one")


@pytest.mark.parametrize(
    ("name", "gpus", "preemption"),
    [("plain.py", 1, "iteration"), ("ddp.py", 2, "iteration"), ("signalled.py", 1, "signal")],
)
def test_examples_are_preempted_and_go_on_where_they_were(tmp_path, slow, name, gpus, preemption):
    with real_cluster(tmp_path / "c", nodes=2, gpus=1) as (client, place):
        train = [sys.executable, str(PACED), str(slow), str(TRAINING / name), "--epochs", "6"]
        job = client.submit(train, gpus, preemption=preemption)
        assert eventually(lambda: logged(place, job) > 10), client.job(job)
        client.set_node("node-0", "down")
        client.set_node("node-1", "down")
        assert eventually(lambda: client.job(job).state == "waiting")
        for node in ("node-0", "node-1"):
            client.set_node(node, "up")
        slow.unlink()
        view = client.wait(job, PATIENCE_S)
        assert (view.state, view.failures, view.epoch) == ("finished", 0, 2)
        assert [int(i) for i, _, _ in lines(place, job)] == list(range(len(lines(place, job))))
        assert falls(place, job)


def test_a_killed_and_a_stopped_rank_of_ddp_lead_to_a_restart_and_never_to_a_deadlock(tmp_path, slow):
    """One rank is killed while the other waits for it in the sum of gradients; later one is stopped, and the
    job is told to leave. Both times it goes on from its last checkpoint, 20 iterations back at most, and what
    it does again is the same to the last digit."""
    timing = replace(TIMING, grace_s=5.0)
    with real_cluster(tmp_path / "c", nodes=2, gpus=1, timing=timing) as (client, place):
        train = ["--exact", "--epochs", "3", "--pause-s", "0"]
        words = [sys.executable, str(PACED), str(slow), str(TRAINING / "ddp.py"), *train]
        job = client.submit(words, 2)
        assert eventually(lambda: client.job(job).checkpoint >= 20), client.job(job)
        rank_of(place, job, 1).kill()
        assert eventually(lambda: client.job(job).failures == 1), client.job(job)
        assert eventually(lambda: client.job(job).checkpoint >= 40), client.job(job)
        stopped = rank_of(place, job, 1)
        stopped.suspend()
        client.set_node("node-1", "down")
        assert eventually(lambda: client.job(job).state == "waiting"), client.job(job)
        assert not stopped.is_running()
        client.set_node("node-1", "up")
        slow.unlink()
        view = client.wait(job, PATIENCE_S)
        assert (view.state, view.failures, view.epoch) == ("finished", 1, 3), view
        for rank in range(2):
            told = lines(place, job, rank)
            assert len(set(told)) == len({iteration for iteration, _, _ in told})  # again, and the same
            assert {int(iteration) for iteration, _, _ in told} == set(range(len(set(told))))
            assert len(told) - len(set(told)) <= 2 * 20
        assert falls(place, job)


def rank_of(place, job, rank):
    """The process of a rank, once it is there; not its guard, whose command line has other words first."""
    wanted = {"BLOX_JOB": str(job), "RANK": str(rank)}
    found = []

    def is_it(process):
        with suppress(psutil.Error):  # it has ended meanwhile
            return (
                process.info["cmdline"][1:2] == [str(PACED)] and wanted.items() <= process.environ().items()
            )
        return False

    def there():
        found[:] = filter(is_it, processes_of(place))
        return len(found) == 1

    assert eventually(there), found
    return found[0]


def test_an_elastic_job_trains_alike_with_four_ranks_with_two_and_with_one(tmp_path, slow):
    """It has all GPUs, then half of them beside a second job, then a quarter beside two more."""
    share = f"{EXAMPLES / 'share.py'}:Share"
    with (
        forked(tmp_path) as start,
        real_cluster(tmp_path / "c", nodes=2, gpus=2, policies=Policies(scheduler=share)) as (client, place),
    ):
        train = ["--epochs", "8", "--pause-s", "0"]
        limits = {"gpus": 4, "min_gpus": 1, "max_gpus": 4}
        script = str(TRAINING / "elastic.py")
        alone = client.submit([*start, script, *train], **limits)
        assert client.wait(alone, PATIENCE_S).state == "finished"
        job = client.submit([*start, str(PACED), str(slow), script, *train], **limits)
        for others in range(3):
            before = logged(place, job)
            assert eventually(lambda before=before: logged(place, job) > before + 10), client.jobs()
            client.submit(["sleep", "600"], preemption="signal")
            ranks = {0: 2, 1: 1, 2: 1}[others]
            assert eventually(lambda ranks=ranks: ranks_of(client, job) == ranks), client.jobs()
        slow.unlink()
        view = client.wait(job, PATIENCE_S)
        assert (view.state, view.failures) == ("finished", 0)
        resized, whole = by_iteration(place, job), by_iteration(place, alone)
        assert {len(ranks) for ranks in resized.values()} == {1, 2, 4}
        for iteration, ranks in whole.items():
            assert samples(ranks) == samples(resized[iteration])
            assert [float(loss) for loss, _ in resized[iteration].values()] == pytest.approx(
                [float(ranks[0][0])] * len(resized[iteration]), rel=1e-3
            )
        assert falls(place, job)


def logged(place, job):
    """How many iterations rank 0 has printed."""
    return len(lines(place, job)) if (place.job(job) / "rank-0.log").exists() else 0


def ranks_of(client, job):
    """How many ranks its latest placement gave a job."""
    return len(client.job(job).life[-1].gpus)


def by_iteration(place, job):
    """iteration -> rank -> (loss, samples)"""
    found = {}
    for rank in range(4):
        for iteration, loss, seen in lines(place, job, rank):
            found.setdefault(int(iteration), {})[rank] = loss, seen
    return found


def samples(ranks):
    return sorted(int(each) for _, seen in ranks.values() for each in seen.split(", "))


def under_way(client):
    """Whether two jobs run, or all that have not ended."""
    left = [view.state for view in client.jobs(ended=False)]
    return left.count("running") >= min(2, len(left))


def on_node(client, node):
    """The jobs that have processes on a node."""
    (found,) = [view for view in client.nodes() if view.node == node]
    return found.jobs
