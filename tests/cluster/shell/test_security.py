"""What keeps a cluster to its owner, and its jobs to themselves."""

import json
import os
import re
import stat
import sys
from pathlib import Path

import psutil
import pytest

import blox.cluster
from blox.cluster.shell.place import Place
from support.real_cluster import processes_of, real_cluster
from support.waiting import PATIENCE_S, eventually

# Prints who it is, then more than a log may hold, as fast as it can.
JOB = """
import json, os
own = {"group": os.getpgid(0), "session": os.getsid(0), "pid": os.getpid(), "cwd": os.getcwd()}
with open(os.environ["BLOX_CHECKPOINT"] + "/me.json", "w") as file:
    json.dump({**own, "environment": dict(os.environ)}, file)
for _ in range(12_000):
    os.write(1, b"x" * 999 + b"\\n")
os.write(1, b"the last line\\n")
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster whose job 1 has finished and whose job 2 runs; its owner has a secret in the environment."""
    os.environ["SECRET_KEY"] = "hush"
    directory = tmp_path_factory.mktemp("security") / "c"
    directory.mkdir(mode=0o755)
    try:
        with real_cluster(directory, nodes=1, gpus=2) as (client, place):
            job = client.submit(
                [sys.executable, "-c", JOB], preemption="signal", environment={"GIVEN": "yes"}, directory=""
            )
            second = client.submit(["sleep", "600"], preemption="signal")
            assert client.wait(job, PATIENCE_S).state == "finished"
            assert eventually(lambda: client.job(second).state == "running")
            yield client, place
    finally:
        del os.environ["SECRET_KEY"]


@pytest.fixture
def job(cluster):
    """What job 1 said of itself."""
    return json.loads((cluster[1].job(1) / "checkpoint" / "me.json").read_text())


def test_everything_listens_on_loopback_alone(cluster):
    listening = {
        connection.laddr.ip.removeprefix("::ffff:")
        for process in processes_of(cluster[1])
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


def test_token_and_directory_are_their_owners_alone(cluster):
    _, place = cluster
    assert stat.S_IMODE((place.root / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(place.root.stat().st_mode) == 0o700, "also where it was there before, open to all"
    assert re.fullmatch(r"[0-9a-f]{64}", place.token())


def test_every_cluster_has_a_token_of_its_own(tmp_path):
    tokens = set()
    for name in ("a", "b"):
        place = Place.of(tmp_path / name)
        place.create()
        tokens.add(place.token())
        place.create()
        tokens.add(place.token())
    assert len(tokens) == 2


def test_a_job_has_a_clean_environment(job):
    environment = job["environment"]
    assert environment["GIVEN"] == "yes"
    assert "SECRET_KEY" not in environment
    ours = (
        "BLOX_",
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
        "MASTER_",
        "CUDA_VISIBLE_DEVICES",
        "PYTHONUNBUFFERED",
    )
    kept = ("PATH", "HOME", "LANG", "LC_", "USER", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
    assert [name for name in environment if not name.startswith((*ours, *kept, "GIVEN"))] == []
    assert not [value for value in environment.values() if "hush" in value]


def test_a_job_has_a_process_group_and_a_session_of_its_own(job):
    assert job["pid"] == job["group"] == job["session"]
    assert job["group"] != os.getpgid(0)


def test_a_job_has_a_directory_of_its_own(cluster, job):
    _, place = cluster
    assert Path(job["cwd"]) == place.job(1)
    assert job["environment"]["BLOX_CHECKPOINT"] == str(place.job(1) / "checkpoint")


def test_the_log_of_a_job_is_bounded_and_keeps_the_end(cluster):
    log = cluster[1].job(1) / "rank-0.log"
    assert log.stat().st_size <= 4 << 20
    text = log.read_bytes()
    assert text.startswith(b"[...]\n") and text.endswith(b"the last line\n")


def test_no_shell_no_pickle_and_no_eval_on_the_wire():
    """Nothing that came over the wire is run by a shell, unpickled or evaluated.

    The scheduler's own journal holds a pickle, of what policies remember.
    """
    sources = {path: path.read_text() for path in Path(blox.cluster.__file__).parent.rglob("*.py")}
    for path, text in sources.items():
        assert not re.search(r"shell=True|os\.system|\beval\(|\bexec\(", text), path
        assert "import pickle" not in text or path.name == "memory.py", path
