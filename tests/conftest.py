"""What several folders of tests need: where the shared folder of goldens and traces is."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("BLOX_SHARED", ROOT.parent / "shared"))


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
