"""Two runs that are told apart by their jobs."""

import pytest

from blox import Experiment


@pytest.fixture(scope="session")
def runs():
    """Results of 4 jobs and of 6."""
    return [Experiment(workload="constant", cluster="2x4", jobs=jobs).run() for jobs in (4, 6)]
