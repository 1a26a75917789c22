"""Files written whole: links are not followed, the umask counts, nothing is left behind."""

import errno
import os
import re
import resource
import stat

import pytest

from blox.disk.whole_file import write_whole
from blox.errors import BloxError


@pytest.fixture
def private():
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_text_and_bytes(tmp_path):
    write_whole(tmp_path / "a", "für\n")
    write_whole(tmp_path / "b", b"\x00\xff")
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"f\xc3\xbcr\n", b"\x00\xff"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_permissions_are_those_of_the_umask(tmp_path, private):
    write_whole(tmp_path / "a", "mine")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "a").symlink_to("victim")
    write_whole(tmp_path / "a", "new")
    assert ((tmp_path / "a").read_text(), (tmp_path / "victim").read_text()) == ("new", "precious")


def test_the_name_of_a_draft_cannot_be_foreseen(tmp_path, monkeypatch):
    seen = []
    done = os.replace
    monkeypatch.setattr("os.replace", lambda a, b: (seen.append(os.path.basename(a)), done(a, b)))
    for _ in range(2):
        write_whole(tmp_path / "sweep.toml", "x")
    assert len(set(seen)) == 2 and str(os.getpid()) not in "".join(seen)
    assert all(re.fullmatch(r"\.sweep\.toml\.[0-9a-f]{16}\.part", name) for name in seen)


def test_leftovers_of_a_killed_process_are_removed_and_others_are_not(tmp_path):
    leftover = tmp_path / ".a.0123456789abcdef.part"
    others = (".a.part", ".ab.0123456789abcdef.part", "b")
    for name in (leftover.name, *others):
        (tmp_path / name).write_text("half")
    write_whole(tmp_path / "a", "whole")
    assert sorted(os.listdir(tmp_path)) == sorted(["a", *others])


def test_a_draft_that_is_being_written_is_left_alone(tmp_path, monkeypatch):
    done = os.replace

    def other_writes_first(draft, path):
        monkeypatch.setattr("os.replace", done)
        write_whole(tmp_path / "a", "of another process")
        assert os.path.exists(draft)
        done(draft, path)

    monkeypatch.setattr("os.replace", other_writes_first)
    write_whole(tmp_path / "a", "ours")
    assert (tmp_path / "a").read_text() == "ours"


def test_a_long_name_can_be_written(tmp_path):
    write_whole(tmp_path / ("n" * 250), "x")
    assert os.listdir(tmp_path) == ["n" * 250]


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: os.mkfifo(path)])
def test_what_is_no_file_is_not_replaced(tmp_path, make):
    make(tmp_path / "a")
    with pytest.raises(BloxError, match="no file"):
        write_whole(tmp_path / "a", "x")
    assert os.listdir(tmp_path) == ["a"]


def test_no_room_names_the_file_and_keeps_the_old_one(tmp_path):
    write_whole(tmp_path / "a", "old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError) as caught:
            write_whole(tmp_path / "a", "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(tmp_path / "a"))
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]
