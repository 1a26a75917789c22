"""Policies written to files, as a user would."""

import textwrap

import pytest

HEADER = """\
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
        (tmp_path / "mine.py").write_text(HEADER + textwrap.dedent(text).lstrip("\n"))
        return "./mine.py:Mine"

    return write
