"""Text files: memory is taken for what they hold."""

import tracemalloc

import pytest

from blox.errors import BloxError
from blox.workloads import text_files
from blox.workloads.text_files import read_text


def test_a_small_file_takes_little_memory(tmp_path):
    """A file is not read into a buffer of the largest size allowed."""
    file = tmp_path / "jobs.csv"
    file.write_text("job_id,submit_s\n")
    tracemalloc.start()
    read_text(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize("name", ["jobs.csv", "jobs.csv.gz"])
def test_a_file_that_is_too_large_is_told(tmp_path, monkeypatch, name):
    monkeypatch.setattr(text_files, "MOST_BYTES", 2**21)
    text_files.write_text(tmp_path / name, "x" * (2**21 + 1))
    with pytest.raises(BloxError, match="more than 2 MB"):
        read_text(tmp_path / name)


def test_an_empty_path_is_told_as_such():
    with pytest.raises(BloxError, match="the path of a file is missing"):
        read_text("")
