"""Ranks: how the end of a process is read, and what it leaves behind."""

import signal
import sys

import psutil
import pytest

from blox.client.page import LeasePage
from blox.cluster.protocol.messages import Grant, JobSpec
from blox.cluster.protocol.outputs import Start
from blox.cluster.shell.place import Place, write_whole
from blox.cluster.shell.ranks import Rank, Ranks, outcome_of
from blox.cluster.shell.worker_process import NodeLease
from support.waiting import eventually


@pytest.mark.parametrize(
    ("code", "why", "preempted", "outcome"),
    [
        (0, "exit", False, "done"),
        (0, "exit", True, "done"),
        (75, "exit", True, "left"),
        (-15, "exit", True, "left"),
        (75, "exit", False, "failed"),
        (-15, "exit", False, "failed"),
        (1, "exit", True, "failed"),
        (-9, "killed", False, "killed"),
        (-9, "lost", False, "lost"),
    ],
)
def test_the_code_of_a_preemption_means_that_where_the_rank_was_told_to_leave(code, why, preempted, outcome):
    assert outcome_of(code, why, preempted, "")[0] == outcome


def test_a_rank_that_leaves_unasked_says_what_its_code_is_for():
    detail = outcome_of(75, "exit", False, "bye\n")[1]
    assert detail == "exit code 75, that of a preemption, which nothing had asked for; its log ends:\nbye"


@pytest.mark.parametrize("told", [{}, {"revoked": True}, {"exit_at": 0}, {"terminated": True}])
def test_a_rank_is_told_to_leave_by_its_lease_or_by_a_signal(tmp_path, told):
    page = LeasePage.create(tmp_path / "lease")
    rank = Rank(None, page, tmp_path)
    for name, value in told.items():
        setattr(rank if hasattr(rank, name) else page, name, value)
    assert rank.preempted == bool(told)


@pytest.fixture
def place(tmp_path):
    """A node whose lease lasts."""
    made = Place.of(tmp_path / "c")
    made.node("a").mkdir(parents=True)
    NodeLease(made.node("a") / "lease").extend(1e12)
    return made


def start(ranks, *command, **fields):
    spec = JobSpec(command, preemption="signal", **fields)
    ranks.start(Start(Grant(1, 1, (0,), (0,), 1, ("a",), ("127.0.0.1:1",), False, spec), 0, 0))


def left(place):
    return [file.name for file in place.node("a").iterdir() if file.name != "lease"]


def test_a_job_that_cannot_be_started_leaves_no_directory(place):
    ended = []
    ranks = Ranks(place, "a", lambda *how: ended.append(how))
    start(ranks, "true", directory="/no/such/directory")
    assert ended[0][1] == "failed" and left(place) == []


def test_ranks_end_with_their_worker_manager_and_leave_no_directory(place):
    ranks = Ranks(place, "a", lambda *how: None)
    start(ranks, sys.executable, "-c", "import time; time.sleep(600)", directory=str(place.root))
    (rank,) = ranks.running.values()
    assert eventually(psutil.Process(rank.guard.pid).children)
    (child,) = psutil.Process(rank.guard.pid).children()
    rank.guard.send_signal(signal.SIGSTOP)
    ranks.close()
    assert rank.guard.returncode is not None and not child.is_running()
    assert ranks.running == {} and left(place) == []


def test_what_a_killed_worker_manager_has_left_is_removed_at_the_next_start(place):
    (place.node("a") / "rank-1-1-0" / "code").mkdir(parents=True)
    Ranks(place, "a", lambda *how: None)
    assert left(place) == []


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    file = tmp_path / "settings.json"
    write_whole(file, "old")
    write = type(file).write_bytes

    def full(path, content):
        write(path, content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(file), "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(file, "new")
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"] and file.read_text() == "old"
