"""Processes that answer late: stopped and continued at random, no job is lost, run twice or hangs."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import stopped_ranks

LONGEST_S = 900.0  # of one run, which takes some twenty seconds, or several times that on a busy machine


def run(seed, folder):
    """What a run says; it is killed when it takes too long, and its cluster ends with it."""
    here = folder / str(seed)
    here.mkdir()
    command = [sys.executable, stopped_ranks.__file__, str(seed), str(here)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return f"seed {seed}: hung"
    said = ended.stdout.strip()
    return "fine" if said == "fine" else f"seed {seed}: {said} {ended.stderr[-2000:]}"


@pytest.mark.slow
def test_late_answers_lose_no_job(tmp_path):
    assert run(0, tmp_path) == "fine"


@pytest.mark.long
def test_two_hundred_runs_lose_no_job(tmp_path):
    """By `make soak`."""
    with ThreadPoolExecutor(4) as pool:  # the jobs sleep
        said = list(pool.map(lambda seed: run(seed, tmp_path), range(100, 300)))
    assert [each for each in said if each != "fine"] == []
