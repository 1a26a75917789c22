"""The seal: what policies read of the job state cannot be written to."""

import numpy as np
import pytest

from blox.checks.seal import seal
from blox.state.jobs import JobState
from support.states import admitted, idle_cluster

PROPERTIES = [name for name, value in vars(JobState).items() if isinstance(value, property)]


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_accessor_of_job_state_is_read_only(name):
    job_state = admitted([1, 2, 4])
    with seal(job_state, idle_cluster("1x8")):
        values = getattr(job_state, name)
        assert isinstance(values, np.ndarray) and len(values) == 3
        assert not values.flags.writeable
