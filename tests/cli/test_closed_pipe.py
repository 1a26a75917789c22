"""A run whose reader goes away keeps its results."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("command", ["run", "compare"])
def test_results_are_written_before_anything_is_printed(command, tmp_path):
    out = tmp_path / "out"
    settings = ("--workload", "constant:every_s=100,duration_s=500", "--jobs", "20", "--cluster", "2x4")
    child = subprocess.Popen(
        [sys.executable, "-m", "blox", command, *settings, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    child.stdout.close()
    child.wait(timeout=300)
    assert list(out.rglob("jobs.*")), "the results are there"
    assert (out / "report.html").is_file() or command == "run"
