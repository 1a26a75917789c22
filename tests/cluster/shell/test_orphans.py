"""Processes of ranks that outlive their guard are found, ended and waited for."""

import os
import subprocess
import sys

import pytest

from blox.cluster.shell.orphans import VARIABLE, _is_exiting, kill_orphans


def test_every_process_below_a_directory_is_killed_and_no_other(tmp_path):
    sleep = [sys.executable, "-S", "-c", "import time; print(flush=True); time.sleep(600)"]
    processes = [
        subprocess.Popen(sleep, env={**os.environ, VARIABLE: str(tmp_path / name)}, stdout=subprocess.PIPE)
        for name in ("node/rank-1", "node/rank-2", "node-2/rank")
    ]
    try:
        for process in processes:
            process.stdout.readline()
        assert kill_orphans(tmp_path / "node") == 2
        assert [process.poll() for process in processes] == [-9, -9, None]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@pytest.mark.parametrize(
    ("state", "flags", "threads", "exiting"),
    [("S", 0x400, 1, False), ("R", 0x40C, 1, True), ("Z", 0x40C, 1, False), ("Z", 0x40C, 3, True)],
    ids=["it sleeps", "it gives back its memory and files", "it has ended", "threads of it have not ended"],
)
def test_a_process_that_is_exiting_is_told_from_one_that_has_ended(tmp_path, state, flags, threads, exiting):
    fields = [state, 1, 2, 3, 0, -1, flags, *range(10), threads, 0, 99]
    (tmp_path / "stat").write_text(f"7 (a) Z (b) {' '.join(map(str, fields))}\n")
    assert _is_exiting(tmp_path / "stat") == exiting
