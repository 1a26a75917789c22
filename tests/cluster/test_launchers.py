"""How jobs are started."""

import zipfile
from pathlib import Path

import pytest

from blox.cluster.protocol.messages import JobSpec
from blox.cluster.shell import launchers
from blox.errors import BloxError


def test_a_command_starts_where_it_was_submitted(tmp_path):
    spec = JobSpec(("python", "train.py"), directory="/somewhere")
    assert launchers.prepare(spec, tmp_path) == (["python", "train.py"], Path("/somewhere"))
    assert launchers.prepare(JobSpec(("true",)), tmp_path) == (["true"], tmp_path)


def test_a_zip_file_is_unpacked_once_for_the_job(tmp_path):
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        archive.writestr("train.py", "print(1)")
    spec = JobSpec(("python", "train.py"), launch="zip", directory=str(tmp_path / "code.zip"))
    job = tmp_path / "job"
    job.mkdir()
    for _ in range(2):
        _, where = launchers.prepare(spec, job)
        assert (where / "train.py").read_text() == "print(1)"
    assert [each.name for each in job.iterdir()] == ["code"]


def test_a_zip_file_that_points_elsewhere_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        archive.writestr("../outside.py", "print(1)")
    spec = JobSpec(("true",), launch="zip", directory=str(tmp_path / "code.zip"))
    with pytest.raises(BloxError, match="points out of the archive"):
        launchers.prepare(spec, tmp_path)


def test_a_container_needs_an_engine(tmp_path, monkeypatch):
    spec = JobSpec(("image", "train"), launch="container")
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(BloxError, match="neither docker nor podman"):
        launchers.prepare(spec, tmp_path)
    monkeypatch.setattr("shutil.which", lambda name: "/bin/podman" if name == "podman" else None)
    command, _ = launchers.prepare(spec, tmp_path)
    assert command == [
        "/bin/podman",
        "run",
        "--rm",
        "--init",
        "-v",
        f"{tmp_path}:{tmp_path}",
        "image",
        "train",
    ]
