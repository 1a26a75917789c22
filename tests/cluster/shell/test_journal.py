"""The journal: what was committed is there after a kill, and nothing else."""

import os
import signal
import sqlite3
import subprocess
import sys
from functools import partial

import pytest

from blox.cluster.shell.journal import Journal
from blox.errors import BloxError

WRITER = """
import sys
from pathlib import Path
from blox.cluster.shell.journal import Journal
journal = Journal(Path(sys.argv[1]))
number = 0
while True:
    number += 1
    journal.commit([("a", str(number).encode()), ("b", str(number).encode()), (f"life/{number}", b"x")])
    print(number, flush=True)
"""


def test_records_are_stored_replaced_and_deleted(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.commit([("job/1", b"one"), ("job/2", b"two"), ("life/1/0", b"born")])
    journal.commit([("job/1", b"uno"), ("job/2", None)])
    journal.close()
    again = Journal(tmp_path / "j")
    assert again.records() == {"job/1": b"uno"}
    assert again.under("life/1/") == {"life/1/0": b"born"}
    again.close()


def test_a_second_scheduler_is_refused(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.1))  # and not for 5 s
    with pytest.raises(BloxError, match="cannot be opened"):
        Journal(tmp_path / "j")
    journal.close()


def test_what_was_committed_survives_a_kill_whole(tmp_path):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "j")], stdout=subprocess.PIPE, env=dict(os.environ)
    )
    told = [int(writer.stdout.readline()) for _ in range(20)][-1]
    writer.send_signal(signal.SIGKILL)
    told = max([told, *map(int, writer.stdout.read().split())])
    writer.wait()
    records = Journal(tmp_path / "j").records()
    assert records["a"] == records["b"]
    assert int(records["a"]) >= told


@pytest.mark.parametrize("damaged_from", [0, 4096])
def test_a_damaged_file_is_refused_in_words(tmp_path, damaged_from):
    """At its beginning, or behind the page that says what the tables are."""
    journal = Journal(tmp_path / "j")
    journal.commit([(f"job/{number}", bytes(100)) for number in range(1000)])
    journal.close()
    with open(tmp_path / "j", "r+b") as file:
        file.seek(damaged_from)
        file.write(b"damaged" * 9000)
    with pytest.raises(BloxError, match=r"cannot be opened: .*\n  fix: the file is damaged"):
        Journal(tmp_path / "j").records()
