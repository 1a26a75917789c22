"""What several tests of real clusters need."""

import pytest


@pytest.fixture
def slow(tmp_path):
    """A file: as long as it is there, jobs that look at it are so slow that they do not end meanwhile."""
    file = tmp_path / "slow"
    file.touch()
    return file
