"""Children that answer late: stopped and continued at random, no job is lost, run twice or hangs."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import stopped_children

LONGEST_S = 60.0  # of one run, which takes some two seconds


def run(seed, folder):
    """What a run says; it is killed when it takes too long."""
    here = folder / str(seed)
    here.mkdir()
    command = [sys.executable, stopped_children.__file__, str(seed), str(here)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return f"seed {seed}: hung"
    said = ended.stdout.strip()
    return "fine" if said == "fine" else f"seed {seed}: {said} {ended.stderr[-2000:]}"


@pytest.mark.parametrize("seed", range(4))
def test_late_answers_lose_no_job(tmp_path, seed):
    assert run(seed, tmp_path) == "fine"


@pytest.mark.slow
def test_two_hundred_runs_lose_no_job(tmp_path):
    with ThreadPoolExecutor(8) as pool:  # the children sleep
        said = list(pool.map(lambda seed: run(seed, tmp_path), range(100, 300)))
    assert [each for each in said if each != "fine"] == []
