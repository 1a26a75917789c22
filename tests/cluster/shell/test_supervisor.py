"""The supervisor: one per directory, whatever is started and taken down at the same time."""

import fcntl
import os
import socket

import pytest

from blox.cluster.central.records import Policies
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell import local, supervisor
from blox.cluster.shell.place import Place
from blox.errors import BloxError
from support.real_cluster import TIMING, pid_of, processes_of, real_cluster
from support.waiting import PATIENCE_S, eventually


@pytest.fixture
def place(tmp_path):
    made = Place.of(tmp_path / "c")
    made.create()
    return made


def start(place, timing=TIMING, **more):
    """A scheduler without nodes."""
    settings = {"policies": Policies(), "attached": True, "patience_s": PATIENCE_S, **more}
    return local.start(place, 0, 1, timing=timing, **settings)


def test_a_lock_on_a_removed_file_is_no_claim(place, monkeypatch):
    """Another supervisor ends, and removes its file, between our opening of it and our lock."""
    own, flock = place.supervisor_file, fcntl.flock

    def removed(file, how):
        monkeypatch.undo()
        own.unlink()
        flock(file, how)

    monkeypatch.setattr(supervisor.fcntl, "flock", removed)
    claimed = supervisor._claimed(place)
    assert os.path.samestat(os.fstat(claimed.fileno()), own.stat())
    assert own.read_text().startswith(f"{os.getpid()} ")


def test_a_claim_waits_for_a_test_of_the_lock_and_not_for_another_supervisor(place):
    with open(place.supervisor_file, "w") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        with open(place.supervisor_file) as file:
            assert not supervisor._locked(file)
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="another supervisor runs here"):
            supervisor._claimed(place)


def test_of_two_starts_at_the_same_time_one_is_refused_and_changes_nothing(tmp_path, monkeypatch):
    """The second one looked before the first had claimed the directory; `stop` then ends all there is."""
    with real_cluster(tmp_path / "c", nodes=0) as (client, place):
        kept = {file: file.read_bytes() for file in (place.address_file, place.root / "settings.json")}
        found, looked = local.is_up, []
        monkeypatch.setattr(local, "is_up", lambda place: found(place) if looked else looked.append(1))
        with pytest.raises(BloxError, match="did not come up"):
            start(place, Timing())
        assert {file: file.read_bytes() for file in kept} == kept
        assert client.policies().scheduler == "fifo"
        assert local.stop(place)
        assert eventually(lambda: not processes_of(place)), processes_of(place)


def test_two_processes_that_make_the_directory_agree_on_its_token(place, monkeypatch):
    token = place.token()
    monkeypatch.setattr(type(place.root), "exists", lambda path: False)  # as the other one saw it
    place.create()
    assert place.token() == token and [file.name for file in place.root.iterdir()] == ["token"]


def refused(place, told, **more):
    """A start that is refused with the reason of the scheduler, and leaves nothing behind."""
    with pytest.raises(BloxError, match=told):
        start(place, **more)
    assert local.is_up(place) is None and not place.supervisor_file.exists()
    assert eventually(lambda: not processes_of(place)), processes_of(place)


def test_a_scheduler_that_cannot_start_is_not_started_again_and_says_why(place):
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        refused(place, "cannot listen: .*Failed to bind", address=f"127.0.0.1:{used.getsockname()[1]}")
    place.journal.write_bytes(b"no journal" * 1000)
    refused(place, "the journal cannot be opened: file is not a database")


def test_a_scheduler_that_has_answered_is_started_again(tmp_path):
    with real_cluster(tmp_path / "c", nodes=0) as (client, place):
        pid_of(place, "scheduler_process").kill()
        assert client.policies().scheduler == "fifo"
