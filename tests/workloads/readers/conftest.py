"""Samples of our own making in every format, and the folder of real traces where it is at hand."""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


@pytest.fixture
def samples() -> Path:
    return HERE / "samples"


@pytest.fixture
def shared():
    """A function that finds a file of the shared folder, or skips naming the one that is absent."""
    folder = Path(os.environ.get("BLOX_SHARED", ROOT.parent / "shared"))

    def find(path: str) -> Path:
        if not (folder / path).exists():
            pytest.skip(f"absent: {folder / path}")
        return folder / path

    return find
