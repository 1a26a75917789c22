"""Locks: one process at a time, and none outlives its process."""

import os
import signal
import subprocess
import sys

from blox.disk.file_lock import holder, lock_file

HOLD = """
import sys, time
from pathlib import Path
from blox.disk.file_lock import lock_file
assert lock_file(Path(sys.argv[1])) is not None
print("held", flush=True)
time.sleep(60)
"""


def hold_elsewhere(path):
    """A process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_one_process_holds_it_at_a_time_and_is_named(tmp_path):
    path = tmp_path / "lock"
    with hold_elsewhere(path) as other:
        try:
            assert lock_file(path) is None
            assert holder(path) == f"process {other.pid}"
        finally:
            other.kill()


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path):
    path = tmp_path / "lock"
    with hold_elsewhere(path) as other:
        other.send_signal(signal.SIGKILL)
    assert path.exists()
    lock = lock_file(path)
    assert lock is not None
    assert holder(path) == f"process {os.getpid()}"
    lock.release()
    assert not path.exists()


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "lock").symlink_to("victim")
    try:
        lock_file(tmp_path / "lock")
    except OSError as error:
        assert "symbolic links" in str(error)
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_file_that_holds_no_number_names_no_process(tmp_path):
    (tmp_path / "lock").write_bytes(b"\xff\x1b[2J" * 1000)
    assert holder(tmp_path / "lock") == "another process"
