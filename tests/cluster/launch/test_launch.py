"""How jobs are started: by a command line, from a zip file, in a container."""

import stat
import zipfile
from pathlib import Path

import pytest

from blox import registry
from blox.cluster.launch import Home, Prepared, prepared
from blox.cluster.protocol.messages import JobSpec
from blox.errors import BloxError
from support.real_cluster import real_cluster
from support.waiting import PATIENCE_S, eventually

ENVIRONMENT = {"BLOX_JOB": "7", "BLOX_EPOCH": "2", "RANK": "1", "CUDA_VISIBLE_DEVICES": "3", "HOME": "/root"}


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path / "c1" / "jobs" / "7", tmp_path / "rank", ENVIRONMENT)
    made.job.mkdir(parents=True)
    made.own.mkdir()
    return made


def packed(path, **files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return str(path)


def test_every_mechanism_of_table_5_is_there_and_tells_what_it_does():
    assert registry.names("launch") == ["command", "container", "zip"]
    assert registry.names("preemption") == ["iteration", "never", "signal"]


def test_a_command_starts_where_it_was_submitted(home):
    spec = JobSpec(("python", "train.py"), directory="/somewhere")
    assert prepared(spec, home) == Prepared(["python", "train.py"], Path("/somewhere"))
    assert prepared(JobSpec(("true",)), home) == Prepared(["true"], home.job)


def test_a_zip_file_is_unpacked_once_for_the_job(home, tmp_path):
    code = packed(tmp_path / "code.zip", **{"train.py": "print(1)"})
    spec = JobSpec(("python", "train.py"), launch="zip", directory=code)
    for _ in range(2):
        where = prepared(spec, home).directory
        assert (where / "train.py").read_text() == "print(1)"
    assert [each.name for each in home.job.iterdir()] == ["code"]


def test_a_zip_file_that_cannot_be_is_refused_in_words(home, tmp_path, monkeypatch):
    (tmp_path / "no.zip").write_text("no zip file")
    cases = {
        packed(tmp_path / "out.zip", **{"../outside.py": "print(1)"}): "points out of the archive",
        str(tmp_path / "no.zip"): "cannot be unpacked",
        packed(tmp_path / "large.zip", large="x" * 2000): "unpacks to more than",
    }
    monkeypatch.setattr("blox.cluster.launch.zip._LARGEST", 1000)
    for path, says in cases.items():
        with pytest.raises(BloxError, match=says):
            prepared(JobSpec(("true",), launch="zip", directory=path), home)
    with pytest.raises(FileNotFoundError):
        prepared(JobSpec(("true",), launch="zip", directory=str(tmp_path / "absent.zip")), home)
    assert list(home.job.iterdir()) == []


def test_a_container_needs_an_engine(home, monkeypatch):
    spec = JobSpec(("image", "train"), launch="container")
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(BloxError, match="neither docker nor podman"):
        prepared(spec, home)
    with pytest.raises(BloxError, match="podman is not here"):
        prepared(JobSpec(("image",), launch="container:engine=podman"), home)
    with pytest.raises(BloxError, match="engine is 'lxc'"):
        prepared(JobSpec(("image",), launch="container:engine=lxc"), home)


def test_a_container_sees_its_directories_and_what_the_rank_is_told(home, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}" if name == "podman" else None)
    made = prepared(JobSpec(("image", "train", "-x"), launch="container:gpus=true"), home)
    words = " ".join(made.command)
    assert words.startswith("/bin/podman run --rm --init --name blox-7-2-1-c1 --network host")
    assert f"--volume {home.job}:{home.job} --volume {home.own}:{home.own}" in words
    assert "--env BLOX_JOB" in words and "--env RANK" in words and "--env HOME" not in words
    assert words.endswith("--gpus device=3 image train -x")
    assert made.cleanup == ("/bin/podman", "rm", "--force", "blox-7-2-1-c1")


ENGINE = """#!/bin/sh
# An engine that notes what it is asked for, and runs the command behind the image.
echo "$@" >> {calls}
test "$1" = run || exit 0
while test "$1" != image; do shift; done
shift
exec "$@"
"""


def test_jobs_start_by_every_mechanism_on_a_cluster(tmp_path, monkeypatch):
    """From a zip file; in a container, which is removed when its job is cancelled; by an unknown one."""
    engine, calls = tmp_path / "bin" / "docker", tmp_path / "calls"
    engine.parent.mkdir()
    engine.write_text(ENGINE.format(calls=calls))
    engine.chmod(engine.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{engine.parent}:/usr/bin:/bin")
    code = packed(tmp_path / "code.zip", **{"say.sh": "echo from the zip file\n"})
    with real_cluster(tmp_path / "c", nodes=1) as (client, place):
        zipped = client.submit(["sh", "say.sh"], launch="zip", directory=code, preemption="signal")
        short = client.submit(["image", "sh", "-c", "echo rank $RANK of $WORLD_SIZE"], launch="container")
        endless = client.submit(["image", "sleep", "600"], launch="container")
        assert client.wait(zipped, PATIENCE_S).state == client.wait(short, PATIENCE_S).state == "finished"
        assert (place.job(zipped) / "rank-0.log").read_text() == "from the zip file\n"
        assert (place.job(short) / "rank-0.log").read_text() == "rank 0 of 1\n"
        assert eventually(lambda: client.job(endless).state == "running")
        client.cancel(endless)
        assert client.wait(endless, PATIENCE_S).state == "cancelled"
        assert eventually(lambda: f"rm --force blox-{endless}-1-0-c\n" in calls.read_text())
        assert f"rm --force blox-{short}" not in calls.read_text()
        for wrong in ({"launch": "rocket"}, {"preemption": "iterations"}, {"launch": "./mine.py:Mine"}):
            with pytest.raises(BloxError) as refused:
                client.submit(["true"], **wrong)
            assert "did you mean" in refused.value.fix or "command, container, zip" in refused.value.fix
