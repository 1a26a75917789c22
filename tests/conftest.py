"""What several folders of tests need: where the shared folder is, and the command line."""

import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from support.places import ROOT, SAMPLES, SHARED

settings.register_profile("same-every-time", derandomize=True, deadline=None)
settings.load_profile("same-every-time")


@pytest.fixture
def shared():
    """A function that finds a file of the shared folder, or skips naming the one that is absent."""

    def find(path: str) -> Path:
        if not (SHARED / path).exists():
            pytest.skip(f"absent: {SHARED / path}")
        return SHARED / path

    return find


@pytest.fixture
def project() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture
def samples() -> Path:
    """The folder of small traces of our own making, one in every format."""
    return SAMPLES


POLICY_HEADER = """\
import random
from dataclasses import dataclass, field, replace
import numpy as np
from blox import Allocation, Schedule
"""


@pytest.fixture
def policy_file(tmp_path, monkeypatch):
    """Writes a policy file and returns the spec of its class `Mine`; line 5 is the first of the text."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        (tmp_path / "mine.py").write_text(POLICY_HEADER + textwrap.dedent(text).lstrip("\n"))
        return "./mine.py:Mine"

    return write


@pytest.fixture(scope="session")
def staged():
    """A function that gives a job state with so many jobs of one GPU and one second, not yet submitted."""
    import numpy as np

    from blox.state.jobs import JobState
    from blox.workloads.table import JobTable

    def stage(count: int) -> JobState:
        found = JobState()
        columns = {
            "job_id": [str(row) for row in range(count)],
            "submit_s": np.zeros(count),
            "gpus": np.ones(count, dtype=np.int64),
            "duration_s": np.ones(count),
        }
        found.stage(JobTable.build(columns, source="test"), np.ones(count))
        return found

    return stage


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys, monkeypatch):
    """A function that runs the command line as a user types it, in this process, 100 columns wide."""
    from blox.cli.main import answer

    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: object) -> Answer:
        capsys.readouterr()
        code = answer([str(word) for word in words])
        return Answer(code, *capsys.readouterr())

    return run
